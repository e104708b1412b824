// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/cost_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace reel::front {
namespace {

constexpr size_t kTerms = 3;
constexpr size_t kLeastPoints = 3;
// Below it two terms cannot be told apart.
constexpr double kLeastPivot = 1e-9;

using Terms = std::array<double, kTerms>;

// The sums of least squares over all terms; a subset of the terms is a part of them.
struct Sums {
  std::array<Terms, kTerms> matrix = {};
  Terms right = {};
  double costs = 0;  // squared
};

// Relative errors: each point counts as 1, whatever it cost. Amounts are in units of the largest.
Sums SumsOf(absl::Span<const CurvePoint> points, const Terms& unit) {
  Sums sums;
  for (const CurvePoint& point : points) {
    if (point.cost <= 0) continue;
    const Terms terms = {unit[0] / point.cost, point.amount / unit[1] / point.cost,
                         point.square / unit[2] / point.cost};
    for (size_t i = 0; i < kTerms; ++i) {
      for (size_t j = 0; j < kTerms; ++j) sums.matrix[i][j] += point.weight * terms[i] * terms[j];
      sums.right[i] += point.weight * terms[i];
    }
    sums.costs += point.weight;
  }
  return sums;
}

// Gauss with the terms in `subset` alone; the others are zero.
std::optional<Terms> Solve(Sums sums, unsigned subset) {
  const auto in = [subset](size_t i) { return (subset >> i & 1U) != 0; };
  for (size_t i = 0; i < kTerms; ++i) {
    if (!in(i)) continue;
    const double scale = sums.matrix[i][i];
    if (scale <= 0) return std::nullopt;
    for (size_t k = i + 1; k < kTerms; ++k) {
      if (!in(k)) continue;
      const double factor = sums.matrix[k][i] / scale;
      const double before = sums.matrix[k][k];
      for (size_t j = i; j < kTerms; ++j) sums.matrix[k][j] -= factor * sums.matrix[i][j];
      sums.right[k] -= factor * sums.right[i];
      if (sums.matrix[k][k] <= kLeastPivot * before) return std::nullopt;
    }
  }
  Terms solution = {};
  for (size_t i = kTerms; i-- > 0;) {
    if (!in(i)) continue;
    double rest = sums.right[i];
    for (size_t j = i + 1; j < kTerms; ++j) rest -= sums.matrix[i][j] * solution[j];
    solution[i] = rest / sums.matrix[i][i];
    if (!(solution[i] >= 0)) return std::nullopt;
  }
  return solution;
}

double ErrorOf(const Sums& sums, const Terms& solution) {
  double error = sums.costs;
  for (size_t i = 0; i < kTerms; ++i) {
    error -= 2 * solution[i] * sums.right[i];
    for (size_t j = 0; j < kTerms; ++j) error += solution[i] * solution[j] * sums.matrix[i][j];
  }
  return error;
}

}  // namespace

std::optional<CostCurve> FitCurve(absl::Span<const CurvePoint> points) {
  if (points.size() < kLeastPoints) return std::nullopt;
  Terms unit = {};
  for (const CurvePoint& point : points) {
    unit[0] = std::max(unit[0], point.cost);
    unit[1] = std::max(unit[1], point.amount);
    unit[2] = std::max(unit[2], point.square);
  }
  for (double& most : unit) most = most > 0 ? most : 1;
  const Sums sums = SumsOf(points, unit);
  std::optional<Terms> best;
  double least = std::numeric_limits<double>::infinity();
  // There are few subsets: the best of those without a negative term is the best such curve.
  for (unsigned subset = 1; subset < 1U << kTerms; ++subset) {
    const auto solution = Solve(sums, subset);
    if (!solution) continue;
    const double error = ErrorOf(sums, *solution);
    if (error < least) {
      least = error;
      best = solution;
    }
  }
  if (!best) return std::nullopt;
  return CostCurve{(*best)[0] * unit[0], (*best)[1] / unit[1], (*best)[2] / unit[2]};
}

}  // namespace reel::front
