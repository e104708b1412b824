// SPDX-License-Identifier: Apache-2.0
#include "client/command/pair_verdict.h"

#include <algorithm>
#include <cmath>

#include "client/command/quantity.h"
#include "kernels/base/statistics/signed_rank.h"

namespace reel::client {
namespace {

constexpr double kSignificant = 0.05;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Verdict VerdictOf(const PairResult& result, bool same_kernels) {
  if (same_kernels) return Verdict::kSameKernels;
  if (result.pairs < kLeastPairs) return Verdict::kTooFew;
  if (!result.ratio->differs() || result.p >= kSignificant) return Verdict::kNone;
  return result.ratio->value < 1 ? Verdict::kFaster : Verdict::kSlower;
}

}  // namespace

std::optional<double> StepSeconds(const v1::RunStats& stats) {
  std::vector<double> best, first, timed;
  for (const v1::PartSpan& span : stats.spans()) {
    const double seconds = absl::ToDoubleSeconds(FromProto(span.duration()));
    if (span.part() != v1::RUN_PART_DENOISE || span.jobs() > 1 || seconds <= 0) continue;
    (span.timed() ? timed : span.step() <= 1 ? first : best).push_back(seconds);
  }
  for (const std::vector<double>& kind : {best, timed, first}) {
    if (!kind.empty()) return Median(kind);
  }
  return std::nullopt;
}

PairResult Judge(const std::vector<StepPair>& pairs, bool same_kernels) {
  PairResult result;
  result.pairs = pairs.size();
  Moments moments;
  std::vector<double> ratios;
  for (const StepPair& pair : pairs) {
    ratios.push_back(std::log(pair.b / pair.a));
    moments.Add(ratios.back());
  }
  result.ratio = PairedRatio(moments);
  result.p = SignedRankP(ratios);
  result.verdict = VerdictOf(result, same_kernels);
  return result;
}

}  // namespace reel::client
