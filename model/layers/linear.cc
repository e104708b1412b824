// SPDX-License-Identifier: Apache-2.0
#include "model/layers/linear.h"

#include <ATen/ops/ceil.h>
#include <ATen/ops/exp2.h>
#include <ATen/ops/log2.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/int8_rows/int8_rows.h"
#include "model/bridge/row_ops.h"

namespace reel::model {
namespace {

constexpr double kLargestE4m3 = 448, kLargestInt8 = 127, kLeastMaximum = 1e-12;
constexpr double kMostModulation = 4;  // 1 + scale

// The rotation of int8_rows.
at::Tensor Signs(at::Device device) {
  constexpr unsigned kSide = kernels::kTurnedTogether;
  const at::Tensor signs = at::empty({kSide, kSide}, at::TensorOptions(at::kFloat));
  for (unsigned i = 0; i < kSide; ++i) {
    for (unsigned k = 0; k < kSide; ++k) {
      signs.data_ptr<float>()[i * kSide + k] = std::popcount(i & k) % 2 == 0 ? 1.0f : -1.0f;
    }
  }
  return signs.to(device);
}

Linear ReadLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias) {
  Linear linear;
  linear.weight = weights.Take(name + ".weight", {out, in});
  if (has_bias) linear.bias = weights.Take(name + ".bias", {out});
  return linear;
}

}  // namespace

RowForm Linear::FormIn(const Ops& ops) const {
  return Adapts(ops) ? RowForm::kPlain : CodesIn(ops);
}

RowForm Linear::CodesIn(const Ops& ops) const {
  const RowForm form = FormOf(ops.run());
  if (form == RowForm::kInt8 && int8.defined()) return form;
  if (form == RowForm::kE4m3 && gelu.defined()) return RowForm::kE4m3Gelu;
  if (form == RowForm::kE4m3 && e4m3.defined()) return form;
  return RowForm::kPlain;
}

bool Linear::Takes(RowForm form) const {
  const int64_t sides = form == RowForm::kInt8 ? kernels::kTurnedTogether : kE4m3Sides;
  return weight.size(0) % sides == 0 && weight.size(1) % sides == 0;
}

at::Tensor Linear::operator()(const Ops& ops, const at::Tensor& x) const {
  const at::Tensor y = ops.Linear(x, weight, bias);
  if (Adapts(ops)) AddLowRank(ops, x, columns, ops.adapter_scales(), y);
  return y;
}

at::Tensor Linear::operator()(const Ops& ops, const Rows& x) const {
  if (!Adapts(ops)) return Product(ops, x);
  const RowForm codes = CodesIn(ops);
  if (codes == RowForm::kPlain || codes == RowForm::kE4m3Gelu) return (*this)(ops, x.values);
  const at::Tensor y = Product(ops, InForm(ops, x.values, codes));
  AddLowRank(ops, x.values, columns, ops.adapter_scales(), y);
  return y;
}

at::Tensor Linear::Product(const Ops& ops, const Rows& x) const {
  if (!x.scale.defined()) return ops.Linear(x.values, weight, bias);
  const CodedWeight& coded = x.values.scalar_type() == at::kChar ? int8 : e4m3;
  return ops.Linear(x, coded, bias, weight.scalar_type());
}

void Linear::MakeE4m3() {
  if (e4m3.defined()) return;
  const at::Tensor wide = weight.to(at::kFloat);
  const at::Tensor largest = wide.abs().amax(1).clamp_min(kLeastMaximum);
  e4m3.scale = at::exp2(at::ceil(at::log2(largest / kLargestE4m3)));
  e4m3.codes = (wide / e4m3.scale.unsqueeze(1)).to(at::kFloat8_e4m3fn);
}

void Linear::MakeInt8() {
  if (int8.defined()) return;
  constexpr int64_t kRun = 8, kQuarters = kernels::kTurnedTogether / kRun;
  const at::Tensor wide = weight.to(at::kFloat);
  const at::Tensor groups = wide.view({wide.size(0), kQuarters, -1, kRun}).transpose(1, 2);
  const at::Tensor turned = groups.flatten(2)
                                .matmul(Signs(wide.device()))
                                .unflatten(2, {kQuarters, kRun})
                                .transpose(1, 2)
                                .flatten(1);
  const at::Tensor largest = turned.abs().amax(1).clamp_min(kLeastMaximum);
  int8.scale = largest / kLargestInt8 / std::sqrt(kernels::kTurnedTogether);
  int8.codes = (turned * (kLargestInt8 / largest).unsqueeze(1)).round().to(at::kChar);
}

void Linear::MakeE4m3Gelu() {
  if (gelu.defined()) return;
  const at::Tensor wide = weight.to(at::kFloat);
  const at::Tensor largest = wide.abs().amax().clamp_min(kLeastMaximum);
  gelu.weight_scale = at::exp2(at::ceil(at::log2(largest / kLargestE4m3))).reshape({1});
  gelu.codes = (wide / gelu.weight_scale).to(at::kFloat8_e4m3fn);
  // The bound of a norm's row, by Cauchy and Schwarz.
  const double row = std::sqrt(static_cast<double>(weight.size(1))) * kMostModulation;
  double reach = row * at::sqrt((wide * wide).sum(1).amax()).item<double>();
  if (bias.defined()) reach += bias.abs().amax().item<double>();
  gelu.out_scale = std::max(reach, kLeastMaximum) / kLargestE4m3;
  const auto options = gelu.weight_scale.options();
  gelu.x_scale = at::full({1}, kE4m3GeluXScale, options);
  gelu.to_out = at::full({1}, 1 / gelu.out_scale, options);
  gelu.out_scales = at::full({kE4m3GeluRows}, gelu.out_scale, options);
}

void VisitTensors(Linear& layer, const TensorVisitor& visit) {
  VisitIfDefined(layer.weight, visit);
  VisitIfDefined(layer.bias, visit);
}

Linear OutputsFrom(const Linear& layer, int64_t first) {
  const auto from = [first](const at::Tensor& t) { return t.defined() ? t.slice(0, first) : t; };
  LowRankColumns columns;
  if (layer.columns.defined()) {
    const int64_t part = first / layer.columns.up.size(1);
    columns = layer.columns;
    columns.down = columns.down.slice(1, part);
    columns.up = columns.up.slice(0, part);
  }
  return {.weight = from(layer.weight),
          .bias = from(layer.bias),
          .e4m3 = {from(layer.e4m3.codes), from(layer.e4m3.scale)},
          .int8 = {from(layer.int8.codes), from(layer.int8.scale)},
          .gelu = {},
          .columns = columns};
}

Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias) {
  Linear linear = ReadLinear(weights, name, in, out, has_bias);
  linear.columns = weights.ColumnsFor({name}, in, out);
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
    const Linear one = ReadLinear(weights, name, in, out, has_bias);
    if (!one.weight.defined() || (has_bias && !one.bias.defined()))
      return {};  // Finish reports the reason
    all.weight.slice(0, row, row + out).copy_(one.weight);
    if (has_bias) all.bias.slice(0, row, row + out).copy_(one.bias);
    row += out;
  }
  all.columns = weights.ColumnsFor(names, in, out);
  return all;
}

}  // namespace reel::model
