// SPDX-License-Identifier: Apache-2.0
// The verdict on two arms from pairs of renders. Pure.
#pragma once

#include <optional>
#include <vector>

#include "kernels/base/statistics/log_ratio.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// Seconds that a denoising step takes: the median of those that ran alone and after the first, and
// whose operators were not timed, as long as there are any; next those that were timed. Nothing
// where every step was shared with other videos, or the server does not tell.
std::optional<double> StepSeconds(const v1::RunStats& stats);

struct StepPair {
  double a = 0, b = 0;  // seconds
};

// With fewer no outcome is rarer than one in twenty.
inline constexpr int kLeastPairs = 6;

enum class Verdict {
  kFaster,      // B is
  kSlower,      // B is
  kNone,        // no difference was found
  kTooFew,      // fewer pairs than kLeastPairs
  kSameKernels  // both arms ran the same: whatever differs is noise
};

struct PairResult {
  size_t pairs = 0;
  std::optional<Ratio> ratio;  // of B to A
  double p = 1;                // Wilcoxon
  Verdict verdict = Verdict::kTooFew;
  bool has_verdict() const { return verdict == Verdict::kFaster || verdict == Verdict::kSlower; }
};

// A verdict needs the interval and the test to agree.
PairResult Judge(const std::vector<StepPair>& pairs, bool same_kernels);

}  // namespace reel::client
