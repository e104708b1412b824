// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/int8_loops.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {

void Int8RowsLoops(const Int8RowsParams& params) {
  std::vector<double> row(static_cast<size_t>(params.shape.width));
  for (int64_t index = 0; index < params.shape.rows; ++index) {
    ReadRow(params.shape, params.x, index, row);
    if (params.gelu) std::transform(row.begin(), row.end(), row.begin(), GeluTanh);
    WriteInt8Row(params.shape, params.out, params.scale, index, row);
  }
}

}  // namespace reel::kernels
