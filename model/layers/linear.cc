// SPDX-License-Identifier: Apache-2.0
#include "model/layers/linear.h"

#include <ATen/ops/ceil.h>
#include <ATen/ops/exp2.h>
#include <ATen/ops/log2.h>

#include <algorithm>
#include <cmath>

namespace reel::model {
namespace {

constexpr double kLargestE4m3 = 448, kLeastMaximum = 1e-12;
constexpr double kMostModulation = 4;  // 1 + scale

}  // namespace

at::Tensor Linear::operator()(const Ops& ops, const at::Tensor& x) const {
  return ops.Linear(x, weight, bias);
}

at::Tensor Linear::operator()(const Ops& ops, const Rows& x) const {
  return x.scale.defined() ? ops.Linear(x, e4m3, bias, weight.scalar_type())
                           : ops.Linear(x.values, weight, bias);
}

void Linear::MakeE4m3() {
  if (e4m3.defined()) return;
  const at::Tensor wide = weight.to(at::kFloat);
  const at::Tensor largest = wide.abs().amax(1).clamp_min(kLeastMaximum);
  e4m3.scale = at::exp2(at::ceil(at::log2(largest / kLargestE4m3)));
  e4m3.codes = (wide / e4m3.scale.unsqueeze(1)).to(at::kFloat8_e4m3fn);
}

void Linear::MakeE4m3Gelu() {
  if (gelu.defined()) return;
  const at::Tensor wide = weight.to(at::kFloat);
  const at::Tensor largest = wide.abs().amax().clamp_min(kLeastMaximum);
  gelu.weight_scale = at::exp2(at::ceil(at::log2(largest / kLargestE4m3))).reshape({1});
  gelu.codes = (wide / gelu.weight_scale).to(at::kFloat8_e4m3fn);
  // As far as a row of the norm can reach: Cauchy and Schwarz.
  const double row = std::sqrt(static_cast<double>(weight.size(1))) * kMostModulation;
  double reach = row * at::sqrt((wide * wide).sum(1).amax()).item<double>();
  if (bias.defined()) reach += bias.abs().amax().item<double>();
  gelu.out_scale = std::max(reach, kLeastMaximum) / kLargestE4m3;
  const auto options = gelu.weight_scale.options();
  gelu.x_scale = at::full({1}, kE4m3GeluXScale, options);
  gelu.to_out = at::full({1}, 1 / gelu.out_scale, options);
  gelu.out_scales = at::full({kE4m3GeluRows}, gelu.out_scale, options);
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
