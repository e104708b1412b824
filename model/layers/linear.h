// SPDX-License-Identifier: Apache-2.0
// y = x W^T + b.
#pragma once

#include <string>
#include <vector>

#include "model/bridge/ops.h"
#include "model/layers/weights.h"

namespace reel::model {

struct Linear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out], or undefined

  at::Tensor operator()(const Ops& ops, const at::Tensor& x) const;
};

// Reads `name`.weight and, if `has_bias`, `name`.bias.
Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias = true);

// Several of one input as one layer, whose outputs stand side by side in the order of `names`.
Linear TakeLinears(Weights& weights, const std::vector<std::string>& names, int64_t in, int64_t out,
                   bool has_bias = true);

}  // namespace reel::model
