// SPDX-License-Identifier: Apache-2.0
// Linear layers as a model calls them, which is what libtorch's variants of them take.
#pragma once

#include <string_view>

#include "model/bridge/aten.h"

namespace reel::model::aten {

// With scales x and weight are codes, e4m3 or int8, and the result is of `type`.
struct LinearScales {
  const at::Tensor& rows;     // fp32 [...], of x
  const at::Tensor& outputs;  // fp32 [out], of the weight
  at::ScalarType type;
};
struct LinearCall {
  static constexpr std::string_view op = "linear";
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& bias;
  at::Tensor& out;
  const LinearScales* scales = nullptr;
};

// With scales x, the weight and the result are e4m3 codes; fp32 [1] each.
struct LinearGeluScales {
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& to_out;
};
struct LinearGeluCall {
  static constexpr std::string_view op = "linear_gelu";
  const at::Tensor& x;
  const at::Tensor& weight;
  const at::Tensor& bias;
  at::Tensor& out;
  const LinearGeluScales* scales = nullptr;
};

}  // namespace reel::model::aten
