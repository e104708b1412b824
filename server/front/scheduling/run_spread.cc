// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/run_spread.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace reel::front {

void RunSpread::Add(double ratio) {
  if (!std::isfinite(ratio) || ratio <= 0) return;
  if (ratios_.size() < kKept) {
    ratios_.push_back(ratio);
  } else {
    ratios_[next_] = ratio;
    next_ = (next_ + 1) % kKept;
  }
  if (ratios_.size() < kLeast) return;
  std::vector<double> sorted = ratios_;
  // The next run is within the k-th smallest of n with a probability of k / (n + 1).
  const auto rank = static_cast<size_t>(std::ceil(0.9 * static_cast<double>(sorted.size() + 1)));
  const auto place =
      sorted.begin() + static_cast<std::ptrdiff_t>(std::min(rank, sorted.size())) - 1;
  std::nth_element(sorted.begin(), place, sorted.end());
  p90_ = *place;
}

std::string RunSpread::Serialize() const {
  // The oldest first, so that Parse fills the ring as it was.
  std::vector<double> in_order = ratios_;
  std::rotate(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(next_),
              in_order.end());
  return absl::StrJoin(in_order, " ");
}

void RunSpread::Parse(std::string_view text) {
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), text.size()), ' ', absl::SkipEmpty())) {
    double ratio = 0;
    if (absl::SimpleAtod(part, &ratio)) Add(ratio);
  }
}

}  // namespace reel::front
