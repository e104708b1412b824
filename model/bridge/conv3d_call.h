// SPDX-License-Identifier: Apache-2.0
// A convolution over frames as a model calls it, which is what libtorch's variants of it take.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "kernels/conv3d/conv3d.h"
#include "model/bridge/call_operands.h"

namespace reel::model::aten {

// One number each for frames, rows and columns.
using Sides = std::array<int64_t, 3>;

// A convolution's weight, each tap in time in oneDNN's layout (conv_by_taps.h). May be empty.
struct FrameTaps {
  std::vector<at::Tensor> packed;
};
// With taps no frame's value depends on how many others there are.
struct Conv3dCall : kernels::Conv3dOperands<Tensors> {
  static constexpr std::string_view op = "conv3d";
  const FrameTaps* taps = nullptr;
};

}  // namespace reel::model::aten
