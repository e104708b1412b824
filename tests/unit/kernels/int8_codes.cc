// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/int8_codes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace reel::kernels {
namespace {

// Of a scale, and of a code where it lies between two.
constexpr double kScaleLoss = 0x1p-18, kCodeLoss = 0x1p-10;

testing::AssertionResult RowWithin(const Expected& expected, int64_t row, int64_t width) {
  const auto first = expected.want.begin() + row * width;
  const std::vector<double> turned = TurnedRow({first, first + width});
  const double got_scale = expected.scale->Get(row);
  const bool finite =
      std::all_of(turned.begin(), turned.end(), [](double value) { return std::isfinite(value); });
  if (!finite) {
    return std::isnan(got_scale) ? testing::AssertionSuccess()
                                 : testing::AssertionFailure() << "row " << row << " shows no NaN";
  }
  double largest = 1e-12;
  for (const double value : turned) largest = std::max(largest, std::abs(value));
  const double scale = largest / 127 / std::sqrt(32);
  if (!(std::abs(got_scale - scale) <= scale * kScaleLoss)) {
    return testing::AssertionFailure()
           << "row " << row << ": scale " << got_scale << ", want " << scale;
  }
  for (int64_t i = 0; i < width; ++i) {
    const double code = expected.output->Get(row * width + i);
    const double want = turned[static_cast<size_t>(i)] * 127 / largest;
    if (std::abs(code - want) <= 0.5 + kCodeLoss) continue;
    return testing::AssertionFailure()
           << "row " << row << ", element " << i << ": code " << code << ", want " << want;
  }
  return testing::AssertionSuccess();
}

}  // namespace

std::vector<double> TurnedRow(const std::vector<double>& row) {
  const size_t quarter = row.size() / 4;
  std::vector<double> turned(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t group = i % quarter / 8;
    const auto own = static_cast<unsigned>(i / quarter * 8 + i % 8);
    for (unsigned other = 0; other < 32; ++other) {
      const double value = row[other / 8 * quarter + 8 * group + other % 8];
      turned[i] += std::popcount(own & other) % 2 == 0 ? value : -value;
    }
  }
  return turned;
}

testing::AssertionResult Int8Within(const Expected& expected) {
  const HostTensor& codes = *expected.output;
  if (static_cast<size_t>(codes.size()) != expected.want.size()) {
    return testing::AssertionFailure() << codes.size() << " codes, want " << expected.want.size();
  }
  if (codes.size() == 0) return testing::AssertionSuccess();
  if (!codes.SurroundingsIntact() || !expected.scale->SurroundingsIntact()) {
    return testing::AssertionFailure() << "something beside codes or scales was written";
  }
  const int64_t width = codes.view().size(-1);
  for (int64_t row = 0; row < codes.size() / width; ++row) {
    const auto result = RowWithin(expected, row, width);
    if (!result) return result;
  }
  return testing::AssertionSuccess();
}

}  // namespace reel::kernels
