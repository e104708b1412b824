// SPDX-License-Identifier: Apache-2.0
// The oracle: quotients in fp32, where those of 16-bit rows are often ties; then to nearest even.
#include <vector>

#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/e4m3_loops.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {

void QuantizeRowsLoops(const QuantizeRowsParams& params) {
  std::vector<double> x(static_cast<size_t>(params.shape.width));
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    float scale = 0;
    if (params.static_scale != nullptr) {
      scale = *params.static_scale;
    } else {
      scale = E4m3ScaleOf(x);
      static_cast<float*>(params.scale.data)[RowOffset(params.shape, params.scale, row)] = scale;
    }
    WriteE4m3Row(params.shape, params.out, row, x, scale);
  }
}

}  // namespace reel::kernels
