// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/statistics/log_ratio.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/statistics/student_t.h"

namespace reel {
namespace {

// A mean logarithm with its standard error.
Ratio RatioOf(double logarithm, double error, double degrees) {
  const double reach = error > 0 ? StudentBound95(degrees) * error : 0;
  return {std::exp(logarithm), std::exp(logarithm - reach), std::exp(logarithm + reach)};
}

}  // namespace

void Moments::Add(double value) {
  ++count_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
}

double Moments::variance() const {
  return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1);
}

std::optional<Ratio> WelchRatio(const Moments& log_a, const Moments& log_b) {
  if (log_a.count() < 2 || log_b.count() < 2) return std::nullopt;
  const double n_a = static_cast<double>(log_a.count()), n_b = static_cast<double>(log_b.count());
  const double part_a = log_a.variance() / n_a, part_b = log_b.variance() / n_b;
  const double both = part_a + part_b;
  // Welch and Satterthwaite.
  const double degrees =
      both > 0 ? both * both / (part_a * part_a / (n_a - 1) + part_b * part_b / (n_b - 1)) : 1;
  return RatioOf(log_b.mean() - log_a.mean(), std::sqrt(both), degrees);
}

std::optional<Ratio> PairedRatio(const Moments& log_ratios) {
  if (log_ratios.count() < 2) return std::nullopt;
  const double n = static_cast<double>(log_ratios.count());
  return RatioOf(log_ratios.mean(), std::sqrt(log_ratios.variance() / n), n - 1);
}

std::optional<Ratio> PooledRatio(const std::vector<Ratio>& ratios) {
  if (ratios.empty()) return std::nullopt;
  // For values without any variance.
  constexpr double kLeastReach = 1e-9;
  double weights = 0, sum = 0;
  for (const Ratio& ratio : ratios) {
    const double reach = std::max(kLeastReach, std::log(ratio.high / ratio.low) / 2);
    weights += 1 / (reach * reach);
    sum += std::log(ratio.value) / (reach * reach);
  }
  const double reach = 1 / std::sqrt(weights);
  const double middle = sum / weights;
  return Ratio{std::exp(middle), std::exp(middle - reach), std::exp(middle + reach)};
}

}  // namespace reel
