// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/statistics/student_t.h"

#include <cmath>

namespace reel {
namespace {

constexpr int kMostTerms = 300;
constexpr double kPrecision = 1e-15;
constexpr double kTiny = 1e-300;  // replaces a divisor of 0

double NotZero(double value) { return std::fabs(value) < kTiny ? kTiny : value; }

// The continued fraction of the incomplete beta function, by Lentz's method. Converges fast for
// x < (a + 1) / (a + b + 2).
double BetaFraction(double a, double b, double x) {
  double c = 1;
  double d = 1 / NotZero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / NotZero(1 + even * d);
    c = NotZero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / NotZero(1 + odd * d);
    c = NotZero(1 + odd / c);
    const double factor = d * c;
    value *= factor;
    if (std::fabs(factor - 1) < kPrecision) break;
  }
  return value;
}

// lgamma sets a global in C; this form does not.
double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// The regularised incomplete beta function.
double Beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(LogGamma(a + b) - LogGamma(a) - LogGamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

}  // namespace

double StudentCdf(double t, double degrees) {
  const double tail = 0.5 * Beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t > 0 ? 1 - tail : tail;
}

double StudentBound95(double degrees) {
  constexpr double kWanted = 0.975;
  double low = 0, high = 1;
  while (StudentCdf(high, degrees) < kWanted && high < 1e12) high *= 2;
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (StudentCdf(middle, degrees) < kWanted ? low : high) = middle;
  }
  return high;
}

}  // namespace reel
