// SPDX-License-Identifier: Apache-2.0
// A fused norm as a model calls it, and its tensors as kernels/ sees them.
#pragma once

#include <optional>
#include <string_view>

#include "kernels/rows/fused_norm_call.h"
#include "kernels/rows/fused_ops_launch.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/aten.h"

namespace reel::model {

// A fused norm, with the parts that its operator has; absent ones are null or undefined.
//   sum = x + y * gate
//   out = norm(sum) * weight + bias, or norm(sum) * (1 + scale) + shift
// With `vector_of`, int32 [B, S], gate, scale and shift are [M, 1, D], and each row takes that
// which it is told.
struct NormCall {
  const kernels::FusedOp& of;
  const at::Tensor& x;
  const at::Tensor *y = nullptr, *gate = nullptr;
  const at::Tensor *weight = nullptr, *bias = nullptr;
  const at::Tensor *scale = nullptr, *shift = nullptr;
  const at::Tensor* vector_of = nullptr;
  double eps = 0;
  at::Tensor *sum = nullptr, *out = nullptr;

  std::string_view op() const { return of.name; }
};

// The outputs are there.
inline kernels::FusedArgs ViewsOf(const NormCall& call) {
  const auto view = [](const at::Tensor* tensor) {
    return tensor == nullptr ? std::nullopt : kernels::OptionalViewOf(*tensor);
  };
  return {.x = kernels::ViewOf(call.x),
          .residual = view(call.y),
          .residual_gate = view(call.gate),
          .weight = view(call.weight),
          .bias = view(call.bias),
          .scale = view(call.scale),
          .shift = view(call.shift),
          .sum = view(call.sum),
          .out = view(call.out),
          .eps = call.eps,
          .vector_of = view(call.vector_of)};
}

}  // namespace reel::model
