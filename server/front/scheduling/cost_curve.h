// SPDX-License-Identifier: Apache-2.0
// A cost as a function of the amount of work, fitted to what was seen: constant, linear and, where
// an amount is known that grows with the square, quadratic. Pure.
#pragma once

#include <optional>

#include "absl/types/span.h"

namespace reel::front {

struct CurvePoint {
  double amount = 0;  // e.g. rows of a step
  double square =
      0;  // e.g. rows times the tokens that each attends to; 0: the cost has no such part
  double cost = 0;
  double weight = 1;
};

struct CostCurve {
  double constant = 0, per_amount = 0, per_square = 0;

  double At(double amount, double square) const {
    return constant + per_amount * amount + per_square * square;
  }
};

// The curve with the least squares of relative errors among those that never fall. nullopt: fewer
// than three points, or points that tell nothing.
std::optional<CostCurve> FitCurve(absl::Span<const CurvePoint> points);

}  // namespace reel::front
