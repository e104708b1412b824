// SPDX-License-Identifier: Apache-2.0
// Which clips can be moved in one call of the transformer, and which of them side by side.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "model/ltx/denoise_state.h"

namespace reel::model::ltx {

// Whether one call can serve the next steps of both, whatever their sizes: nothing is perturbed.
bool CanPackStep(const DenoiseState& a, const DenoiseState& b);

// Places in `states`: of each group those that share a step (CanShareStep). Small ones first, so
// that the same company is the same whoever came first.
std::vector<std::vector<size_t>> GroupsOf(absl::Span<const DenoiseState* const> states);

}  // namespace reel::model::ltx
