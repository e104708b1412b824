// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "server/front/scheduling/cost_cells.h"

namespace reel::front {
namespace {

std::vector<CurvePoint> PointsOf(const CostCurve& curve, const std::vector<double>& amounts) {
  std::vector<CurvePoint> points;
  for (const double amount : amounts) {
    points.push_back({amount, amount * amount, curve.At(amount, amount * amount), 1});
  }
  return points;
}

TEST(CostCurve, FindsTheCurveThatThePointsLieOn) {
  const auto fit = FitCurve(PointsOf({0.01, 2e-5, 3e-9}, {500, 1000, 5000, 20000}));
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->constant, 0.01, 1e-6);
  EXPECT_NEAR(fit->per_amount, 2e-5, 1e-9);
  EXPECT_NEAR(fit->per_square, 3e-9, 1e-13);
}

TEST(CostCurve, NeverFalls) {
  // A line through these falls; a curve that does not is flat.
  std::vector<CurvePoint> points;
  for (const double amount : {1.0, 2.0, 3.0, 4.0}) {
    points.push_back({amount, amount * amount, 10 - amount, 1});
  }
  const auto fit = FitCurve(points);
  ASSERT_TRUE(fit.has_value());
  EXPECT_GE(fit->per_amount, 0);
  EXPECT_GE(fit->per_square, 0);
  EXPECT_NEAR(fit->At(2, 4), 7.2, 1);
}

TEST(CostCurve, DoesWithoutSquares) {
  std::vector<CurvePoint> points;
  for (const double amount : {1.0, 2.0, 5.0}) points.push_back({amount, 0, 3 + 2 * amount, 1});
  const auto fit = FitCurve(points);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->At(10, 0), 23, 1e-6);
}

TEST(CostCurve, IsNoneWherePointsTellTooLittle) {
  EXPECT_FALSE(FitCurve({}).has_value());
  EXPECT_FALSE(FitCurve(PointsOf({1, 1, 1}, {1, 2})).has_value());
  const std::vector<CurvePoint> free = {{1, 1, 0, 1}, {2, 4, 0, 1}, {3, 9, 0, 1}};
  EXPECT_FALSE(FitCurve(free).has_value());
  // One amount alone: its cost, whatever is made of it.
  const std::vector<CurvePoint> same(5, CurvePoint{2, 4, 6, 1});
  const auto fit = FitCurve(same);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->At(2, 4), 6, 1e-6);
}

}  // namespace
}  // namespace reel::front
