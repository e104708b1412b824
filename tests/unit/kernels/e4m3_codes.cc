// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/e4m3_codes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace reel::kernels {
namespace {

// The value of a code without sign, by the definition of the format.
double ValueOf(int code) {
  const int exponent = code / 8;
  const int mantissa = code % 8;
  return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
}

// Ordered like the values.
int PlaceOf(int code) { return code < 0x80 ? code : 0x80 - code; }

// One row of an output.
struct RowOf {
  const Expected& expected;
  int64_t row;
  int64_t width;

  float Want(int64_t i) const {
    return static_cast<float>(expected.want[static_cast<size_t>(row * width + i)]);
  }
  int Got(int64_t i) const { return static_cast<int>(expected.output->Get(row * width + i)); }
};

testing::AssertionResult Miss(const RowOf& of, const std::string& what, double got, double want) {
  return testing::AssertionFailure()
         << what << " of row " << of.row << " is " << got << ", want " << want;
}

bool IsFinite(const RowOf& of) {
  for (int64_t i = 0; i < of.width; ++i) {
    if (!std::isfinite(of.Want(i))) return false;
  }
  return true;
}

testing::AssertionResult NanRow(const RowOf& of) {
  const double scale = of.expected.scale->Get(of.row);
  if (!std::isnan(scale)) return Miss(of, "the scale", scale, std::nan(""));
  for (int64_t i = 0; i < of.width; ++i) {
    if (of.Got(i) != kE4m3NanCode) return Miss(of, "a code", of.Got(i), kE4m3NanCode);
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult OwnScale(const RowOf& of, double c) {
  double largest = 1e-12;
  double magnitude = 0;
  for (int64_t i = 0; i < of.width; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(of.Want(i))));
    magnitude =
        std::max(magnitude, of.expected.magnitude[static_cast<size_t>(of.row * of.width + i)]);
  }
  const double want = largest / 448;
  const double got = of.expected.scale->Get(of.row);
  const double allowed = 2 * UlpOf(want, Dtype::kF32) + c * 0x1p-24 * magnitude / 448;
  return std::abs(got - want) <= allowed ? testing::AssertionSuccess()
                                         : Miss(of, "the scale", got, want);
}

}  // namespace

double ValueOfE4m3(int code) {
  if ((code & 0x7F) == kE4m3NanCode) return std::nan("");
  return code < 0x80 ? ValueOf(code) : -ValueOf(code - 0x80);
}

int NearestE4m3(double value) {
  if (!std::isfinite(value)) return kE4m3NanCode;
  const double size = std::min(std::abs(value), 448.0);
  // Codes without sign are ordered like their values: the last that is not larger, or the next.
  int below = 0;
  for (int step = 64; step > 0; step /= 2) {
    if (below + step <= kE4m3LargestCode && ValueOf(below + step) <= size) below += step;
  }
  int best = below;
  if (below < kE4m3LargestCode) {
    const double nearer = (size - ValueOf(below)) - (ValueOf(below + 1) - size);
    if (nearer > 0 || (nearer == 0 && below % 2 == 1)) best = below + 1;
  }
  return best + (std::signbit(value) ? 0x80 : 0);
}

int E4m3Distance(int a, int b) { return std::abs(PlaceOf(a) - PlaceOf(b)); }

testing::AssertionResult E4m3Within(double c, const Expected& expected) {
  const HostTensor& codes = *expected.output;
  if (static_cast<size_t>(codes.size()) != expected.want.size()) {
    return testing::AssertionFailure() << codes.size() << " codes, want " << expected.want.size();
  }
  if (codes.size() == 0) return testing::AssertionSuccess();
  const int64_t width = codes.view().size(-1);
  const bool own = expected.scale != nullptr;
  if (own && !expected.scale->SurroundingsIntact()) {
    return testing::AssertionFailure() << "something beside the scales was written";
  }
  for (int64_t row = 0; row < codes.size() / width; ++row) {
    const RowOf of{expected, row, width};
    if (own) {
      const bool finite = IsFinite(of);
      const auto shown = finite ? OwnScale(of, c) : NanRow(of);
      if (!shown) return shown;
      if (!finite) continue;
    }
    const double scale = own ? expected.scale->Get(row) : expected.fixed_scale;
    for (int64_t i = 0; i < width; ++i) {
      const auto at = static_cast<size_t>(row * width + i);
      const double want = expected.want[at];
      // The last term is the quotient's own rounding.
      const double loss = 0x1p-24 * (c * expected.magnitude[at] + std::abs(want));
      const int least = PlaceOf(NearestE4m3((want - loss) / scale));
      const int most = PlaceOf(NearestE4m3((want + loss) / scale));
      const int got = PlaceOf(of.Got(i));
      if (got < least || got > most)
        return Miss(of, "a code", of.Got(i), NearestE4m3(want / scale));
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace reel::kernels
