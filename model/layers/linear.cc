// SPDX-License-Identifier: Apache-2.0
#include "model/layers/linear.h"

namespace reel::model {

at::Tensor Linear::operator()(const Ops& ops, const at::Tensor& x) const {
  return ops.Linear(x, weight, bias);
}

Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias) {
  Linear linear;
  linear.weight = weights.Take(name + ".weight", {out, in});
  if (has_bias) linear.bias = weights.Take(name + ".bias", {out});
  return linear;
}

Linear TakeLinears(Weights& weights, const std::vector<std::string>& names, int64_t in, int64_t out,
                   bool has_bias) {
  const auto options = at::TensorOptions(weights.device()).dtype(weights.dtype());
  const auto count = static_cast<int64_t>(names.size());
  Linear all;
  all.weight = at::empty({count * out, in}, options);
  if (has_bias) all.bias = at::empty({count * out}, options);
  int64_t row = 0;
  for (const std::string& name : names) {
    const Linear one = TakeLinear(weights, name, in, out, has_bias);
    if (!one.weight.defined() || (has_bias && !one.bias.defined())) return {};  // Finish says why
    all.weight.slice(0, row, row + out).copy_(one.weight);
    if (has_bias) all.bias.slice(0, row, row + out).copy_(one.bias);
    row += out;
  }
  return all;
}

}  // namespace reel::model
