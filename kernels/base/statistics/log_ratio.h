// SPDX-License-Identifier: Apache-2.0
// The ratio of two sets of times with a confidence interval, computed from logarithms. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace reel {

// Count, mean and variance of values, added one by one, without a sum of squares, which would lose
// the variance of values that are close together.
class Moments {
 public:
  void Add(double value);

  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  // The sample's variance, over count - 1. 0 for fewer than two values.
  double variance() const;

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances to the mean
};

struct Ratio {
  double value = 1;
  double low = 1, high = 1;  // the 95 % interval
  // 1 is outside the interval.
  bool differs() const { return low > 1 || high < 1; }
};

// The ratio b / a from logarithms of independent values (Welch). Nothing for fewer than two values
// a side.
std::optional<Ratio> WelchRatio(const Moments& log_a, const Moments& log_b);

// The ratio from the logarithm of each pair's ratio. Nothing for fewer than two pairs.
std::optional<Ratio> PairedRatio(const Moments& log_ratios);

// Combines ratios of several kinds into one, weighted by the width of their intervals. Nothing for
// none.
std::optional<Ratio> PooledRatio(const std::vector<Ratio>& ratios);

}  // namespace reel
