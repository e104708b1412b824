// SPDX-License-Identifier: Apache-2.0
// A fused norm's tensors as kernels/ sees them.
#pragma once

#include <optional>

#include "kernels/rows/fused_norm_call.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/framework_calls.h"

namespace reel::model {

// The outputs are there.
inline kernels::FusedArgs ViewsOf(const aten::NormCall& call) {
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
