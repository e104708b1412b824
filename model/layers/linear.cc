// SPDX-License-Identifier: Apache-2.0
#include "model/layers/linear.h"

namespace reel::model {

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return at::linear(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias) {
  Linear linear;
  linear.weight = weights.Take(name + ".weight", {out, in});
  if (has_bias) linear.bias = weights.Take(name + ".bias", {out});
  return linear;
}

}  // namespace reel::model
