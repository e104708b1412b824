// SPDX-License-Identifier: Apache-2.0
// The ratio of two sets of times with a confidence interval, from their logarithms. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace reel {

// Count, mean and variance of values, one by one: without their sum of squares, which loses the
// variance of values that are close together.
class Moments {
 public:
  void Add(double value);

  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  // Of a sample: over count - 1. 0 of fewer than two.
  double variance() const;

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of the distances to the mean
};

struct Ratio {
  double value = 1;
  double low = 1, high = 1;  // the 95 % interval
  // 1 is outside of the interval.
  bool differs() const { return low > 1 || high < 1; }
};

// b over a, from logarithms that were taken independently of each other (Welch). Nothing of fewer
// than two values a side.
std::optional<Ratio> WelchRatio(const Moments& log_a, const Moments& log_b);

// From the logarithm of each pair's ratio. Nothing of fewer than two pairs.
std::optional<Ratio> PairedRatio(const Moments& log_ratios);

// One ratio from those of several kinds of things, each by how narrow its interval is. Nothing of
// none.
std::optional<Ratio> PooledRatio(const std::vector<Ratio>& ratios);

}  // namespace reel
