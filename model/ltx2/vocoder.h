// SPDX-License-Identifier: Apache-2.0
// LTX-2's vocoder, LTX2Vocoder and LTX2VocoderWithBWE of diffusers: the audio autoencoder's
// spectrum to samples. In fp32 whatever the weights' type.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "model/ltx2/wave_generator.h"

namespace reel::model::ltx2 {

// Makes the frequencies that a wave lacks, at a higher rate: a second generator from the wave's
// spectrum, added to the wave itself.
class BandwidthExtension {
 public:
  // Reads bwe_generator.* and mel_stft.*; errors are remembered in `weights`.
  BandwidthExtension(Weights& weights, const ExtensionConfig& config);

  // [1, C, samples] to [1, C, samples * ratio], -1..1.
  at::Tensor operator()(const at::Tensor& wave, int64_t piece) const;

  // Number of samples of `wave` on each side that a sample depends on.
  int64_t reach() const;

 private:
  // The logarithm of the energy in each bin at each hop, of what lies behind: [1, C bins, hops].
  at::Tensor SpectrumOf(const at::Tensor& wave, int64_t piece) const;

  ExtensionConfig config_;
  WaveGenerator generator_;
  at::Tensor waves_;  // [2 (filter / 2 + 1), 1, filter]: cosines, then sines, under a window
  at::Tensor bins_;   // [num_bins, filter / 2 + 1]
  SincResampler resample_;
};

// Immutable after loading.
class Vocoder {
 public:
  // Frames of a spectrum that a generator makes at a time: a clip of 10 s is whole.
  static constexpr int64_t kPiece = 1024;

  static absl::StatusOr<Vocoder> Load(const WeightSet& stored, const VocoderConfig& config,
                                      at::Device device);

  // `spectrum` [1, C, frames, bins] to [1, C, frames * config().SamplesPerFrame()], fp32.
  at::Tensor operator()(const at::Tensor& spectrum, int64_t piece = kPiece) const;

  // Number of frames on each side that a frame's samples depend on.
  int64_t reach() const;
  // A spectrum may be cut at multiples of this many frames, since the extension works in hops.
  // Samples further than reach() from the cut are those of the whole spectrum.
  int64_t frames_of_hops() const;

  const VocoderConfig& config() const { return config_; }
  int64_t bytes() const { return bytes_; }
  int64_t parameters() const { return parameters_; }

 private:
  Vocoder(Weights& weights, const VocoderConfig& config);

  VocoderConfig config_;
  WaveGenerator generator_;
  std::optional<BandwidthExtension> extension_;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model::ltx2
