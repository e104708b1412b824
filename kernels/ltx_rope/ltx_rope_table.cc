// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope_table.h"

#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"

namespace reel::kernels {
namespace {

// linspace(0, 1, count)[i] as torch computes it in fp32: from both ends inwards.
float UnitStep(int64_t i, int64_t count) {
  if (count == 1) return 0;
  const float step = 1.0f / static_cast<float>(count - 1);
  if (i < count / 2) return step * static_cast<float>(i);
  return 1.0f - step * static_cast<float>(count - 1 - i);
}

std::vector<float> Frequencies(int64_t count) {
  std::vector<float> frequencies;
  for (int64_t i = 0; i < count; ++i) {
    const auto power =
        static_cast<float>(std::pow(10000.0, static_cast<double>(UnitStep(i, count))));
    frequencies.push_back(power * std::numbers::pi_v<float> / 2.0f);
  }
  return frequencies;
}

// One row of the table: a coordinate in the unit square, at every frequency.
void AddRow(float coordinate, const std::vector<float>& frequencies, LtxRopeTable& table) {
  for (const float frequency : frequencies) {
    const float angle = frequency * (coordinate * 2.0f - 1.0f);
    table.cos_sin.push_back(static_cast<float>(std::cos(static_cast<double>(angle))));
    table.cos_sin.push_back(static_cast<float>(std::sin(static_cast<double>(angle))));
  }
  ++table.rows;
}

}  // namespace

absl::StatusOr<LtxRopeTable> MakeLtxRopeTable(int64_t frames, int64_t height, int64_t width,
                                              double frame_rate, int64_t width_channels) {
  if (frames < 1 || height < 1 || width < 1 || width_channels < 6 || !(frame_rate > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "The grid, the width and the frame rate must be above zero: ", frames, " x ", height, " x ",
        width, ", ", width_channels, " channels, ", frame_rate, " fps"));
  }
  LtxRopeTable table;
  table.frequencies = width_channels / 6;
  const std::vector<float> frequencies = Frequencies(table.frequencies);
  const auto seconds = static_cast<float>(8.0 / frame_rate);
  for (int64_t f = 0; f < frames; ++f) {
    AddRow(static_cast<float>(f) * seconds / 20.0f, frequencies, table);
  }
  for (const int64_t count : {height, width}) {
    for (int64_t i = 0; i < count; ++i) {
      AddRow(static_cast<float>(i) * 32.0f / 2048.0f, frequencies, table);
    }
  }
  for (int64_t token = 0; token < frames * height * width; ++token) {
    table.index.push_back(static_cast<int32_t>(token / (height * width)));
    table.index.push_back(static_cast<int32_t>(frames + token / width % height));
    table.index.push_back(static_cast<int32_t>(frames + height + token % width));
  }
  return table;
}

}  // namespace reel::kernels
