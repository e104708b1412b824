// SPDX-License-Identifier: Apache-2.0
// The last step of a video's sound: denoised audio tokens to samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/frame_sink.h"
#include "model/ltx2/audio_vae.h"
#include "model/ltx2/vocoder.h"

namespace reel::model::ltx2 {

// Immutable. Confined to the engine thread, for its memory is that of one clip's pieces.
class SoundOutput {
 public:
  // FAILED_PRECONDITION: the vocoder takes other spectra than the autoencoder makes.
  static absl::StatusOr<SoundOutput> Join(AudioVae vae, Vocoder vocoder);

  SoundFormat format() const;
  // Samples of each channel that so many tokens make: shorter than the pictures, by 30 ms or so.
  int64_t SamplesOf(int64_t tokens) const;

  // Number of later tokens that a token's samples depend on.
  int64_t ahead() const;

  // `tokens` [1, A, D] fp32, as the transformer leaves them; to fp32 [channels, SamplesOf(A)] in
  // -1..1, on the host. DATA_LOSS: NaN or Inf.
  absl::StatusOr<at::Tensor> Samples(const at::Tensor& tokens) const;
  // The samples of tokens `begin` to `end`. Differs from the whole by rounding only, and is always
  // the same to the bit: tokens more than ahead() after `end` have no influence.
  absl::StatusOr<at::Tensor> Samples(const at::Tensor& tokens, int64_t begin, int64_t end) const;

  int64_t bytes() const { return vae_.bytes() + vocoder_.bytes(); }
  int64_t parameters() const { return vae_.parameters() + vocoder_.parameters(); }
  const AudioVae& vae() const { return vae_; }

 private:
  SoundOutput(AudioVae vae, Vocoder vocoder) : vae_(std::move(vae)), vocoder_(std::move(vocoder)) {}

  AudioVae vae_;
  Vocoder vocoder_;
};

}  // namespace reel::model::ltx2
