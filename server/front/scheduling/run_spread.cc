// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/run_spread.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace reel::front {
namespace {

// How far one quote moves the level: 50 that hold make good for five or six that did not.
constexpr double kRate = 0.05;
// Above 1 the longest kept run counts, for a while after many quotes that did not hold.
constexpr double kLeastLevel = 0.7, kMostLevel = 1.2;
// Before the level where a spread is written down.
constexpr absl::string_view kLevelMark = "level=";

}  // namespace

void RunSpread::Add(double ratio, double quoted) {
  if (!std::isfinite(ratio) || ratio <= 0) return;
  if (quoted > 0) {
    const double missed = ratio > quoted ? 1 : 0;
    level_ = std::clamp(level_ + kRate * (missed - (1 - kWanted)), kLeastLevel, kMostLevel);
  }
  if (ratios_.size() < kKept) {
    ratios_.push_back(ratio);
  } else {
    ratios_[next_] = ratio;
    next_ = (next_ + 1) % kKept;
  }
  Update();
}

void RunSpread::Update() {
  if (ratios_.size() < kLeast) return;
  std::vector<double> sorted = ratios_;
  // The next run is within the k-th smallest of n with a probability of k / (n + 1).
  const auto rank = static_cast<size_t>(std::ceil(level_ * static_cast<double>(sorted.size() + 1)));
  const auto place =
      sorted.begin() + static_cast<std::ptrdiff_t>(std::min(rank, sorted.size())) - 1;
  std::nth_element(sorted.begin(), place, sorted.end());
  p90_ = *place;
}

std::string RunSpread::Serialize() const {
  if (ratios_.empty()) return "";
  // The oldest first, so that Parse fills the ring as it was.
  std::vector<double> in_order = ratios_;
  std::rotate(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(next_),
              in_order.end());
  return absl::StrCat(absl::StrJoin(in_order, " "), " ", kLevelMark, level_);
}

void RunSpread::Parse(std::string_view text) {
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), text.size()), ' ', absl::SkipEmpty())) {
    double number = 0;
    if (!absl::SimpleAtod(absl::StripPrefix(part, kLevelMark), &number)) continue;
    if (!absl::StartsWith(part, kLevelMark)) {
      Add(number);
    } else if (number >= kLeastLevel && number <= kMostLevel) {
      level_ = number;
      Update();
    }
  }
}

}  // namespace reel::front
