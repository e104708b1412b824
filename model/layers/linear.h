// SPDX-License-Identifier: Apache-2.0
// y = x W^T + b.
#pragma once

#include <string>

#include "model/bridge/aten.h"
#include "model/layers/weights.h"

namespace reel::model {

struct Linear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out], or undefined

  at::Tensor operator()(const at::Tensor& x) const;
};

// Reads `name`.weight and, if `has_bias`, `name`.bias.
Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias = true);

}  // namespace reel::model
