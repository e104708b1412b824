// SPDX-License-Identifier: Apache-2.0
// The checked call of rope_1d and rope_3d: sections of channels, each rotated by one coordinate of
// the token. Included by nvcc too.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// q or k, with strides over [B,S,N,Dh] in elements.
struct RopeOperand {
  void* in = nullptr;  // absent: null
  void* out = nullptr;
  int64_t tokens = 0;  // per batch
  int64_t heads = 0;
  int64_t in_strides[4] = {};
  int64_t out_strides[4] = {};
  const void* positions = nullptr;  // null: the token's index
  bool wide_positions = false;      // int64, else int32
  int64_t position_strides[2] = {};
  RowOperand weight;  // the norm's weight, [Dh] or absent
};

// `pairs` pairs from channel `begin`: (begin + 2i, begin + 2i + 1), or (begin + i, begin + pairs +
// i).
struct RopeSection {
  int64_t begin = 0;
  int64_t pairs = 0;
  double theta = 10000;
};

struct RopeParams {
  Dtype dtype = Dtype::kF32;
  int64_t batch = 0;
  int64_t head_width = 0;
  RopeOperand operands[2];  // q, k
  RopeSection sections[3];  // axes t, h, w of a grid; rope_1d has the first alone
  bool grid = false;        // coordinates by token index: (t*height + h)*width + w
  int64_t height = 1;
  int64_t width = 1;
  int64_t offset = 0;
  bool interleaved = true;
  int64_t rotated = 0;  // channels from here on are copied
  bool normed = false;  // norm each head first
  float eps = 0;
};

// The coordinate of a token for a section.
REEL_HOST_DEVICE inline int64_t RopeCoordinate(const RopeParams& params, const RopeOperand& operand,
                                               int64_t batch, int64_t token, int section) {
  if (params.grid) {
    if (section == 0) return token / (params.height * params.width);
    return section == 1 ? token / params.width % params.height : token % params.width;
  }
  int64_t position = token;
  if (operand.positions != nullptr) {
    const int64_t at = batch * operand.position_strides[0] + token * operand.position_strides[1];
    position = operand.wide_positions ? static_cast<const int64_t*>(operand.positions)[at]
                                      : static_cast<const int32_t*>(operand.positions)[at];
  }
  return position + params.offset;
}

// The two channels of a section's pair.
REEL_HOST_DEVICE inline int64_t RopeFirst(const RopeParams& params, const RopeSection& section,
                                          int64_t pair) {
  return section.begin + (params.interleaved ? 2 * pair : pair);
}
REEL_HOST_DEVICE inline int64_t RopeSecond(const RopeParams& params, const RopeSection& section,
                                           int64_t pair) {
  return section.begin + (params.interleaved ? 2 * pair + 1 : section.pairs + pair);
}

void RopeLoops(const RopeParams& params);
int32_t LaunchRopeGeneric(const RopeParams& params, void* stream);

}  // namespace reel::kernels
