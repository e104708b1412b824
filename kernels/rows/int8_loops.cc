// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/int8_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/rows/int8_layout.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

std::vector<double> Turned(std::span<const double> row) {
  const size_t quarter = row.size() / kQuarters;
  std::vector<double> turned(row.size());
  for (size_t first = 0; first < quarter; first += kTurnedRun) {
    const auto at = [&](unsigned i) { return (i / kTurnedRun) * quarter + first + i % kTurnedRun; };
    for (unsigned i = 0; i < kTurned; ++i) {
      double sum = 0;
      for (unsigned k = 0; k < kTurned; ++k) {
        sum += std::popcount(i & k) % 2 == 0 ? row[at(k)] : -row[at(k)];
      }
      turned[at(i)] = static_cast<double>(static_cast<float>(sum));
    }
  }
  return turned;
}

// Not a comparison, which would ignore a NaN.
bool AllFinite(const std::vector<double>& row) {
  return std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

void WriteInt8Row(const RowShape& shape, const RowOperand& out, const RowOperand& scale,
                  int64_t row, std::span<const double> values) {
  const std::vector<double> turned = Turned(values);
  float& own = static_cast<float*>(scale.data)[RowOffset(shape, scale, row)];
  auto* code = static_cast<int8_t*>(out.data) + RowOffset(shape, out, row);
  if (!AllFinite(turned)) {
    own = std::numeric_limits<float>::quiet_NaN();
    for (size_t i = 0; i < turned.size(); ++i) code[static_cast<int64_t>(i) * out.inner] = 0;
    return;
  }
  float largest = kLeastSum;
  for (const double value : turned) {
    largest = std::max(largest, std::abs(static_cast<float>(value)));
  }
  own = largest / kLargestInt8 / kTurnedLength;
  const float codes_of_one = kLargestInt8 / largest;
  for (const double value : turned) {
    *code = static_cast<int8_t>(std::nearbyint(value * static_cast<double>(codes_of_one)));
    code += out.inner;
  }
}

}  // namespace reel::kernels
