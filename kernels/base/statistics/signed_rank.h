// SPDX-License-Identifier: Apache-2.0
// Wilcoxon's signed rank test. Pure.
#pragma once

#include "absl/types/span.h"

namespace reel {

// The two-sided probability of pairs whose differences lie as far to one side, if neither side were
// preferred. Pairs without a difference say nothing and are left out; 1 when none is left. Exact
// for at most 50 differences of which no two are the same size, else by the normal distribution
// with the variance corrected for ties.
double SignedRankP(absl::Span<const double> differences);

}  // namespace reel
