// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/statistics/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace reel {
namespace {

constexpr size_t kMostExact = 50;

struct RankSum {
  double positive = 0;
  double ties = 0;  // the sum of t^3 - t over groups of t equal sizes
};

// `differences` are sorted by size; equal sizes share their mean rank.
RankSum SumRanks(const std::vector<double>& differences) {
  RankSum sum;
  for (size_t begin = 0; begin < differences.size();) {
    size_t end = begin;
    while (end < differences.size() &&
           std::fabs(differences[end]) == std::fabs(differences[begin])) {
      ++end;
    }
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    const double group = static_cast<double>(end - begin);
    sum.ties += group * group * group - group;
    for (; begin < end; ++begin) sum.positive += differences[begin] > 0 ? rank : 0;
  }
  return sum;
}

// The share of all subsets of the ranks 1 to n whose sum is at most `sum`.
double ShareUpTo(size_t n, size_t sum) {
  std::vector<double> share(n * (n + 1) / 2 + 1);  // fraction of the subsets with each sum
  share[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank) {
    for (size_t s = share.size(); s-- > 0;) {
      share[s] = (share[s] + (s >= rank ? share[s - rank] : 0)) / 2;
    }
  }
  double all = 0;
  for (size_t s = 0; s <= std::min(sum, share.size() - 1); ++s) all += share[s];
  return all;
}

}  // namespace

double SignedRankP(absl::Span<const double> differences) {
  std::vector<double> sorted;
  for (const double one : differences) {
    if (one != 0) sorted.push_back(one);
  }
  if (sorted.empty()) return 1;
  std::sort(sorted.begin(), sorted.end(),
            [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  const RankSum sum = SumRanks(sorted);
  const double n = static_cast<double>(sorted.size());
  const double all = n * (n + 1) / 2;
  const double smaller = std::min(sum.positive, all - sum.positive);
  if (sum.ties == 0 && sorted.size() <= kMostExact) {
    return std::min(1.0, 2 * ShareUpTo(sorted.size(), static_cast<size_t>(smaller)));
  }
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - sum.ties / 48;
  return std::erfc((all / 2 - smaller) / std::sqrt(2 * variance));
}

}  // namespace reel
