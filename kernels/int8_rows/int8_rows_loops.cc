// SPDX-License-Identifier: Apache-2.0
// The oracle: sums in fp64, rounded to fp32, where their codes are made.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

// In place.
void Turn(std::vector<double>& row) {
  const size_t quarter = row.size() / kQuarters;
  for (size_t first = 0; first < quarter; first += kRun) {
    double from[kTurned];
    const auto at = [&](unsigned i) { return (i / kRun) * quarter + first + i % kRun; };
    for (unsigned i = 0; i < kTurned; ++i) from[i] = row[at(i)];
    for (unsigned i = 0; i < kTurned; ++i) {
      double sum = 0;
      for (unsigned k = 0; k < kTurned; ++k) {
        sum += std::popcount(i & k) % 2 == 0 ? from[k] : -from[k];
      }
      row[at(i)] = static_cast<double>(static_cast<float>(sum));
    }
  }
}

// Not a comparison, which would pass over a NaN.
bool AllFinite(const std::vector<double>& row) {
  return std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

void Int8RowsLoops(const Int8RowsParams& params) {
  std::vector<double> row(static_cast<size_t>(params.shape.width));
  for (int64_t index = 0; index < params.shape.rows; ++index) {
    ReadRow(params.shape, params.x, index, row);
    if (params.gelu) std::transform(row.begin(), row.end(), row.begin(), GeluTanh);
    Turn(row);
    float& scale =
        static_cast<float*>(params.scale.data)[RowOffset(params.shape, params.scale, index)];
    auto* code = static_cast<int8_t*>(params.out.data) + RowOffset(params.shape, params.out, index);
    if (!AllFinite(row)) {
      scale = std::numeric_limits<float>::quiet_NaN();
      for (size_t i = 0; i < row.size(); ++i) code[static_cast<int64_t>(i) * params.out.inner] = 0;
      continue;
    }
    float largest = kLeastSum;
    for (const double value : row) largest = std::max(largest, std::abs(static_cast<float>(value)));
    scale = largest / kLargestInt8 / kTurnedLength;
    const float codes_of_one = kLargestInt8 / largest;
    for (const double value : row) {
      *code = static_cast<int8_t>(std::nearbyint(value * static_cast<double>(codes_of_one)));
      code += params.out.inner;
    }
  }
}

}  // namespace reel::kernels
