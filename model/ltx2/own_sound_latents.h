// SPDX-License-Identifier: Apache-2.0
// Latents of the sound that a request brings.
#pragma once

#include <vector>

#include "model/family/held_latents.h"
#include "model/generation_spec.h"
#include "model/ltx2/audio_vae.h"

namespace reel::model::ltx2 {

// From the first on, at most `latents`: those that the sound reaches the end of. A sound that is
// shorter than the video leaves the rest free.
std::vector<HeldPiece> LatentsOfSound(const AudioVae& vae, const ConditionSound& sound,
                                      int64_t latents, at::Device device);

}  // namespace reel::model::ltx2
