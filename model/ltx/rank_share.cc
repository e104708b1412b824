// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/rank_share.h"

namespace reel::model::ltx {

RowRange RowsOfRank(const GuidancePoint& point, int rank) {
  const int64_t rows = point.rows();
  if (rows == 1) return {0, rank == 0 ? 1 : 0};
  if (point.uses_negative()) return rank == 0 ? RowRange{1, rows - 1} : RowRange{0, 1};
  return {rank, 1};  // the prompt, and perturbed
}

}  // namespace reel::model::ltx
