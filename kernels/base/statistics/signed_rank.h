// SPDX-License-Identifier: Apache-2.0
// Wilcoxon's signed-rank test. Pure.
#pragma once

#include "absl/types/span.h"

namespace reel {

// The two-sided p-value of these differences of pairs. Pairs without a difference are left out; 1
// if none is left. Exact for at most 50 differences of distinct sizes, otherwise by the normal
// distribution with the variance corrected for ties.
double SignedRankP(absl::Span<const double> differences);

}  // namespace reel
