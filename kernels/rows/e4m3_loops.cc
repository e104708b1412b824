// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/e4m3_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/rows/int8_loops.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

// Rounds to nearest even; clamps to 448.
uint8_t ToE4m3(float value) {
  if (!std::isfinite(value)) return kE4m3Nan;
  const int sign = std::signbit(value) ? 0x80 : 0;
  const float size = std::min(std::abs(value), kLargestE4m3);
  // Three bits after the leading one; below 2^-6 steps of 2^-9.
  const int exponent = size == 0 ? -6 : std::max(std::ilogb(size), -6);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent)));
  return static_cast<uint8_t>(sign | (steps + 8 * (exponent + 6)));
}

}  // namespace

float E4m3ScaleOf(std::span<const double> values) {
  float largest = kLeastMaximum;
  for (const double value : values) {
    const float size = std::abs(static_cast<float>(value));
    // A comparison would ignore a NaN.
    if (!std::isfinite(size)) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, size);
  }
  return largest / kLargestE4m3;
}

void WriteE4m3Row(const RowShape& shape, const RowOperand& out, int64_t row,
                  std::span<const double> values, float scale) {
  auto* codes = static_cast<uint8_t*>(out.data) + RowOffset(shape, out, row);
  for (const double value : values) {
    *codes = ToE4m3(static_cast<float>(value) / scale);
    codes += out.inner;
  }
}

double FromE4m3(uint8_t code) {
  const int exponent = (code >> 3) & 0xF, steps = code & 7;
  if (exponent == 0xF && steps == 7) return std::numeric_limits<double>::quiet_NaN();
  const double size = exponent == 0 ? std::ldexp(steps, -9) : std::ldexp(8 + steps, exponent - 10);
  return (code & 0x80) != 0 ? -size : size;
}

void ReadInput(const RowShape& shape, const RowOperand& operand, int64_t row,
               std::span<double> out) {
  const bool is_int8 = operand.dtype == Dtype::kI8;
  if (!is_int8 && operand.dtype != Dtype::kE4m3) return ReadRow(shape, operand, row, out);
  const auto* codes = static_cast<const uint8_t*>(operand.data) + RowOffset(shape, operand, row);
  for (double& value : out) {
    value = is_int8 ? static_cast<int8_t>(*codes) : FromE4m3(*codes);
    codes += operand.inner;
  }
}

void WriteOutput(const RowShape& shape, const RowOperand& out, const CodeScale& scale, int64_t row,
                 std::span<const double> values) {
  if (out.dtype == Dtype::kI8) return WriteInt8Row(shape, out, scale.rows, row, values);
  if (out.dtype != Dtype::kE4m3) return WriteRow(shape, out, row, values);
  if (scale.fixed != 0) return WriteE4m3Row(shape, out, row, values, scale.fixed);
  const float own = E4m3ScaleOf(values);
  static_cast<float*>(scale.rows.data)[RowOffset(shape, scale.rows, row)] = own;
  WriteE4m3Row(shape, out, row, values, own);
}

}  // namespace reel::kernels
