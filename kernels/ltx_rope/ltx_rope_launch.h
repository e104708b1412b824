// SPDX-License-Identifier: Apache-2.0
// The checked call of ltx_rope and qk_norm_rope. Included by nvcc too.
#pragma once

#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// q or k. A channel c is at (c / head_width) * head_stride + (c % head_width) * inner of its row.
struct LtxRopeSide {
  RowOperand in;
  RowOperand out;
  RowOperand weight;
  int64_t in_head_stride = 0;
  int64_t out_head_stride = 0;
};

struct LtxRopeParams {
  RowShape shape;  // of one side: rows are tokens, width is D
  int32_t sides = 1;
  LtxRopeSide side[2];  // q, k
  int64_t head_width = 0;
  const float* cos_sin = nullptr;  // [R][frequencies][2]; null: dense, or no table
  int64_t frequencies = 0;
  int32_t axes = 3;     // 3 or 1
  int64_t half = 0;     // channels between those of a pair in a split head; 0: they are neighbours
  RowOperand index;     // int32 [axes] of each row
  RowOperand cos, sin;  // the dense form
  Statistic statistic = Statistic::kNone;
  float eps = 0;
};

// The channels of a pair.
struct RopePair {
  int64_t first, second;
};
REEL_HOST_DEVICE inline RopePair PairAt(const LtxRopeParams& params, int64_t pair) {
  if (params.half == 0) return {2 * pair, 2 * pair + 1};
  const int64_t first = pair + pair / params.half * params.half;
  return {first, first + params.half};
}
// Pairs before the first that is rotated by a factored table.
REEL_HOST_DEVICE inline int64_t UnturnedPairs(const LtxRopeParams& params) {
  return params.shape.width / 2 - params.axes * params.frequencies;
}

void LtxRopeLoops(const LtxRopeParams& params);
bool LtxRopeVectorAccepts(const LtxRopeParams& params);
int32_t LaunchLtxRopeGeneric(const LtxRopeParams& params, void* stream);
int32_t LaunchLtxRopeSm80(const LtxRopeParams& params, void* stream);
int32_t LaunchLtxRopeSm90(const LtxRopeParams& params, void* stream);
int32_t LaunchQkNormRopeGeneric(const LtxRopeParams& params, void* stream);
int32_t LaunchQkNormRopeSm80(const LtxRopeParams& params, void* stream);
int32_t LaunchQkNormRopeSm90(const LtxRopeParams& params, void* stream);

}  // namespace reel::kernels
