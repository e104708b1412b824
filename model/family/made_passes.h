// SPDX-License-Identifier: Apache-2.0
// The values of made passes as tensors and generators, from a generation's to a kept state's and
// back.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/pass_state.h"

namespace reel::model {

struct MadePasses {
  at::Tensor latents;        // normalised, [1, C, F, h, w] fp32
  at::Tensor audio_latents;  // [1, C, A, bins] fp32; undefined where there is no sound
  at::Tensor decode_noise;   // as `latents`; undefined where the decoder takes none, and of a draft
  // Of the family, under names of its own.
  std::map<std::string, at::Generator> generators;

  // FAILED_PRECONDITION: a generator of this name is missing.
  absl::StatusOr<at::Generator> Take(const std::string& generator);
};

inline constexpr int64_t kAnyLength = -1;

// `passes` were made. Waits for the device.
PassState StateOf(const MadePasses& made, int passes);

// On the host. FAILED_PRECONDITION names the tensor that is missing or has another shape than the
// model's; kAnyLength in a shape takes any, and an empty shape: there is to be no sound.
absl::StatusOr<MadePasses> MadePassesOf(const PassState& state, at::IntArrayRef latents,
                                        at::IntArrayRef audio_latents);

}  // namespace reel::model
