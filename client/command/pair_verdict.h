// SPDX-License-Identifier: Apache-2.0
// Decides between two arms from pairs of renders. Pure.
#pragma once

#include <optional>
#include <vector>

#include "kernels/base/statistics/log_ratio.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// Seconds of a denoising step: the median of steps that ran alone, were not the first, and were not
// timed by operator; if there are none, of timed ones. Nothing if every step was shared with other
// videos, or if the server does not report steps.
std::optional<double> StepSeconds(const v1::RunStats& stats);

struct StepPair {
  double a = 0, b = 0;  // seconds
};

// With fewer pairs no outcome has a probability below 1 in 20.
inline constexpr int kLeastPairs = 6;

enum class Verdict {
  kFaster,      // B is faster
  kSlower,      // B is slower
  kNone,        // no difference was found
  kTooFew,      // fewer pairs than kLeastPairs
  kSameKernels  // both arms ran the same kernels: any difference is noise
};

struct PairResult {
  size_t pairs = 0;
  std::optional<Ratio> ratio;  // step time of B to A
  double p = 1;                // by Wilcoxon's test
  Verdict verdict = Verdict::kTooFew;
  bool has_verdict() const { return verdict == Verdict::kFaster || verdict == Verdict::kSlower; }
};

// A verdict needs both the interval and the test.
PairResult Judge(const std::vector<StepPair>& pairs, bool same_kernels);

}  // namespace reel::client
