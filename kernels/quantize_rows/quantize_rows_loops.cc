// SPDX-License-Identifier: Apache-2.0
// The oracle: quotients in fp32, where those of 16-bit rows are often ties; then to nearest even.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

// Nearest even; |value| is at most 448.
uint8_t ToE4m3(double value) {
  if (!std::isfinite(value)) return kE4m3Nan;
  const int sign = std::signbit(value) ? 0x80 : 0;
  const double size = std::min(std::abs(value), double{kLargestE4m3});
  // Three bits behind the leading one; below 2^-6 steps of 2^-9.
  const int exponent = size == 0 ? -6 : std::max(std::ilogb(size), -6);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent)));
  return static_cast<uint8_t>(sign | (steps + 8 * (exponent + 6)));
}

}  // namespace

void QuantizeRowsLoops(const QuantizeRowsParams& params) {
  std::vector<double> x(static_cast<size_t>(params.shape.width));
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    float scale = params.static_scale == nullptr ? 0 : *params.static_scale;
    if (params.static_scale == nullptr) {
      double largest = double{kLeastMaximum};
      for (const double value : x) {
        // A comparison would pass over a NaN.
        largest = std::isfinite(value) ? std::max(largest, std::abs(value))
                                       : std::numeric_limits<double>::quiet_NaN();
        if (std::isnan(largest)) break;
      }
      scale = static_cast<float>(largest / double{kLargestE4m3});
      static_cast<float*>(params.scale.data)[RowOffset(params.shape, params.scale, row)] = scale;
    }
    auto* out = static_cast<uint8_t*>(params.out.data) + RowOffset(params.shape, params.out, row);
    for (const double value : x) {
      *out = ToE4m3(double{static_cast<float>(value) / scale});
      out += params.out.inner;
    }
  }
}

}  // namespace reel::kernels
