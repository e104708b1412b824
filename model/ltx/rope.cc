// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/rope.h"

#include <cmath>

namespace reel::model::ltx {
namespace {

constexpr double kBaseFrames = 20, kBasePixels = 2048;
constexpr double kTheta = 10000;

struct PlaceGrid {
  at::Tensor t, y, x;  // [N]
};

PlaceGrid TokenGrid(const LatentShape& shape, at::ScalarType dtype) {
  const at::TensorOptions options(dtype);
  const std::vector<at::Tensor> axes =
      at::meshgrid({at::arange(shape.frames, options), at::arange(shape.height, options),
                    at::arange(shape.width, options)},
                   "ij");
  return {axes[0].flatten(), axes[1].flatten(), axes[2].flatten()};
}

}  // namespace

// The order of multiplications and divisions is the reference's: it decides the last bits.
at::Tensor PlainCoordinates(const LatentShape& shape, double frame_rate) {
  const PlaceGrid grid = TokenGrid(shape, at::kFloat);
  return at::stack({grid.t * (kTemporal / frame_rate) / kBaseFrames,
                    grid.y * double{kSpatial} / kBasePixels,
                    grid.x * double{kSpatial} / kBasePixels});
}

at::Tensor CausalCoordinates(const LatentShape& shape, double frame_rate, int64_t frame_index) {
  const PlaceGrid grid = TokenGrid(shape, at::kLong);
  const at::Tensor frame = (grid.t * kTemporal + (1 - kTemporal)).clamp_min(0) + frame_index;
  return at::stack({frame.to(at::kFloat) * (1.0 / frame_rate) / kBaseFrames,
                    (grid.y * kSpatial).to(at::kFloat) / kBasePixels,
                    (grid.x * kSpatial).to(at::kFloat) / kBasePixels});
}

RopeTable MakeRopeTable(const at::Tensor& coordinates, int64_t width) {
  const at::Tensor exponents = at::linspace(0.0, 1.0, width / 6, at::TensorOptions(at::kFloat));
  const at::Tensor frequencies = at::pow(kTheta, exponents) * M_PI / 2.0;  // [K]
  std::vector<at::Tensor> rows, indices;
  int64_t first = 0;
  for (const at::Tensor& axis : coordinates.unbind(0)) {
    const auto [values, index] = at::_unique(axis, true, true);
    const at::Tensor angles = frequencies * (values.unsqueeze(-1) * 2 - 1);  // [R, K]
    rows.push_back(at::stack({angles.cos(), angles.sin()}, -1));
    indices.push_back(index + first);
    first += values.size(0);
  }
  return {at::cat(rows), at::stack(indices, -1).to(at::kInt).unsqueeze(0), width};
}

}  // namespace reel::model::ltx
