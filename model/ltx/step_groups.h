// SPDX-License-Identifier: Apache-2.0
// Decides which videos share a call of the transformer, and groups them by size.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "model/ltx/denoise_state.h"

namespace reel::model::ltx {

// Whether one call can serve the next steps of both, whatever their sizes: neither is perturbed.
bool CanPackStep(const DenoiseState& a, const DenoiseState& b);

// Positions in `states` of the videos of each group, which share a step (CanShareStep). Small ones
// first, so that the same videos make the same call in whatever order they came.
std::vector<std::vector<size_t>> GroupsOf(absl::Span<const DenoiseState* const> states);

}  // namespace reel::model::ltx
