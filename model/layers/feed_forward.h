// SPDX-License-Identifier: Apache-2.0
// The layers that end a transformer block: a linear layer, a GELU, and a linear layer back.
#pragma once

#include <string>

#include "model/layers/linear.h"

namespace reel::model {

struct FeedForward {
  Linear expand, contract;  // four times as wide in between

  // Adds both layers in 8 bits; once for each form. In front of it must be an RMS norm.
  void MakeLayersIn(RowForm form);

  // contract(gelu_tanh(expand(x))), of rows in expand.FormIn(ops).
  at::Tensor operator()(const Ops& ops, const Rows& x) const;
};

void VisitTensors(FeedForward& layer, const TensorVisitor& visit);

// Reads `name`.net.0.proj and `name`.net.2.
FeedForward TakeFeedForward(Weights& weights, const std::string& name, int64_t width,
                            bool has_bias = true);

}  // namespace reel::model
