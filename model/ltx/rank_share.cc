// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/rank_share.h"

namespace reel::model::ltx {

RowRange RowsOfHalf(const GuidancePoint& point, int half) {
  const int64_t rows = point.rows();
  if (rows == 1) return {0, half == 0 ? 1 : 0};
  if (point.uses_negative()) return half == 0 ? RowRange{1, rows - 1} : RowRange{0, 1};
  return {half, 1};  // the prompt, and perturbed
}

}  // namespace reel::model::ltx
