// SPDX-License-Identifier: Apache-2.0
// Linear layers as a model calls them, which is what libtorch's variants of them take.
#pragma once

#include <string_view>

#include "kernels/linear/linear.h"
#include "model/bridge/call_operands.h"

namespace reel::model::aten {

// With scales x and weight are codes, e4m3 or int8.
struct LinearCall : kernels::LinearOperands<Tensors> {
  static constexpr std::string_view op = "linear";
  at::ScalarType type;  // of the result

  bool has_codes() const { return x_scale != nullptr; }
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
  int64_t room = 0;  // elements behind each row of `out` that some variants leave
};

}  // namespace reel::model::aten
