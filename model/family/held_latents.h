// SPDX-License-Identifier: Apache-2.0
// Latents of one video that another holds: an extension the last ones at its beginning, a retake
// those around what it makes anew.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/generation_spec.h"
#include "model/pass_state.h"

namespace reel::model {

// Some that follow each other in time, which is dimension 2, and the place of the first of them.
struct HeldPiece {
  at::Tensor values;
  int64_t first = 0;
};

// On the host, fp32.
struct HeldLatents {
  std::vector<HeldPiece> pictures;      // [1, C, f, h, w], normalised
  std::vector<HeldPiece> sound;         // [1, C, a, bins]
  std::vector<HeldPiece> decode_noise;  // of the pictures; empty where the source had none
  // In front of an extension, at most kContextLatents: what its decode sees of the source.
  at::Tensor before, noise_before;
  // For a retake: the states of the source's generators after its last step.
  std::map<std::string, at::Generator> generators;
};

// The latents of a video as its model has them.
struct LatentLayout {
  std::vector<int64_t> pictures;  // [1, C, F, h, w]
  std::vector<int64_t> sound;     // [1, C, A, bins]; empty: the model makes none
  int frames_per_latent = 0;
  double sound_per_second = 0;  // latents
};

// Of an extension or a retake. FAILED_PRECONDITION names what does not fit.
absl::StatusOr<HeldLatents> HeldOf(const GenerationSpec& resolved, const PassState& source,
                                   const LatentLayout& layout);

// `values` with the pieces in their places.
void PutPieces(const std::vector<HeldPiece>& pieces, at::Tensor& values);

// `values` behind `before`, which may be undefined.
at::Tensor Behind(const at::Tensor& before, const at::Tensor& values);

}  // namespace reel::model
