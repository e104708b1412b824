// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 and libm, one rounding.
#include <cmath>
#include <vector>

#include "kernels/head_gate/head_gate_launch.h"
#include "kernels/rows/e4m3_loops.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {

void HeadGateLoops(const HeadGateParams& params) {
  const auto width = static_cast<size_t>(params.shape.width);
  const auto head_width = static_cast<size_t>(params.head_width);
  std::vector<double> x(width);
  std::vector<double> logits(width / head_width);
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    ReadRow(params.shape, params.logits, row, logits);
    for (size_t i = 0; i < width; ++i) x[i] *= 2 / (1 + std::exp(-logits[i / head_width]));
    WriteOutput(params.shape, params.out, params.out_scale, row, x);
  }
}

}  // namespace reel::kernels
