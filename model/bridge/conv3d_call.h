// SPDX-License-Identifier: Apache-2.0
// A convolution over frames as a model calls it, which is what libtorch's variants of it take.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model::aten {

// One number each for frames, rows and columns.
using Sides = std::array<int64_t, 3>;

// A convolution's weight, each tap in time in oneDNN's layout (conv_by_taps.h). May be empty.
struct FrameTaps {
  std::vector<at::Tensor> packed;
};
// With taps no frame's value depends on how many others there are.
struct Conv3dCall {
  static constexpr std::string_view op = "conv3d";
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& bias;
  const Sides& stride;
  const Sides& padding;
  at::Tensor& out;
  const FrameTaps* taps = nullptr;
};

}  // namespace reel::model::aten
