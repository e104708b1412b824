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

CodedWeight CodesOfRows(const at::Tensor& weight) {
  const at::Tensor wide = weight.to(at::kFloat);
  const at::Tensor largest = wide.abs().amax(1).clamp_min(kLeastMaximum);
  const at::Tensor scale = at::exp2(at::ceil(at::log2(largest / kLargestE4m3)));
  return {(wide / scale.unsqueeze(1)).to(at::kFloat8_e4m3fn), scale};
}

// What no output can exceed: the bound of a norm's row, by Cauchy and Schwarz.
double ReachOf(const at::Tensor& weight, const at::Tensor& bias) {
  const double row = std::sqrt(static_cast<double>(weight.size(1))) * kMostModulation;
  double reach = row * at::sqrt((weight * weight).sum(1).amax()).item<double>();
  if (bias.defined()) reach += bias.abs().amax().item<double>();
  return std::max(reach, kLeastMaximum);
}

// What a file has of a layer.
struct Stored {
  bool codes, bias;
};

Linear ReadLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  Stored stored) {
  Linear linear;
  if (stored.codes) {
    linear.e4m3 = weights.TakeCodes(name + ".weight", {out, in});
    linear.multiplies_codes = false;
  } else {
    linear.weight = weights.Take(name + ".weight", {out, in});
  }
  if (stored.bias) linear.bias = weights.Take(name + ".bias", {out});
  if (weights.holds_codes()) linear.replaced = weights.dtype();
  return linear;
}

Linear EmptyLinear(const Weights& weights, int64_t in, int64_t out, Stored stored) {
  const auto options = at::TensorOptions(weights.device()).dtype(weights.dtype());
  Linear linear;
  if (stored.codes) {
    linear.e4m3 = EmptyE4m3({out, in}, weights.device());
    linear.multiplies_codes = false;
  } else {
    linear.weight = at::empty({out, in}, options);
  }
  if (stored.bias) linear.bias = at::empty({out}, options);
  if (weights.holds_codes()) linear.replaced = weights.dtype();
  return linear;
}

// To the rows of `to` from `first` on.
void CopyRows(const Linear& from, int64_t first, Linear& to) {
  const auto copy = [first](const at::Tensor& source, at::Tensor& rows) {
    if (source.defined()) rows.slice(0, first, first + source.size(0)).copy_(source);
  };
  copy(from.weight, to.weight);
  copy(from.e4m3.codes, to.e4m3.codes);
  copy(from.e4m3.scale, to.e4m3.scale);
  copy(from.bias, to.bias);
}

}  // namespace

at::Tensor Linear::Values() const {
  if (weight.defined()) return weight;
  // Widened exactly; then scaled in fp32 and rounded to bf16, whatever the type (model/weights).
  const at::Tensor values = held().to(at::kBFloat16);
  return values.mul_(e4m3.defined() ? e4m3.scale.unsqueeze(1) : gelu.weight_scale).to(type());
}

const at::Tensor& Linear::held() const {
  if (weight.defined()) return weight;
  return e4m3.defined() ? e4m3.codes : gelu.codes;
}

void Linear::DropWeight() {
  if (replaced.has_value()) weight = at::Tensor();
}

RowForm Linear::FormIn(const Ops& ops) const {
  return Adapts(ops) ? RowForm::kPlain : CodesIn(ops);
}

RowForm Linear::CodesIn(const Ops& ops) const {
  const RowForm form = FormOf(ops.run());
  if (form == RowForm::kInt8 && int8.defined()) return form;
  if (form == RowForm::kE4m3 && gelu.defined()) return RowForm::kE4m3Gelu;
  if (form == RowForm::kE4m3 && e4m3.defined() && multiplies_codes) return form;
  return RowForm::kPlain;
}

bool Linear::Takes(RowForm form) const {
  const int64_t sides = form == RowForm::kInt8 ? kernels::kTurnedTogether : kE4m3Sides;
  return outputs() % sides == 0 && inputs() % sides == 0;
}

at::Tensor Linear::operator()(const Ops& ops, const at::Tensor& x) const {
  const at::Tensor y = ops.Linear(x, Values(), bias);
  if (Adapts(ops)) AddLowRank(ops, x, columns, ops.adapter_scales(), y);
  return y;
}

// A layer that adapts takes plain rows, and makes codes of them itself for a weight in codes.
bool Linear::MultipliesPlain(const Ops& ops) const {
  const RowForm codes = CodesIn(ops);
  return codes == RowForm::kPlain || codes == RowForm::kE4m3Gelu;
}

int64_t Linear::RoomIn(const Ops& ops) const {
  const bool has_whole = Adapts(ops) && columns.whole.defined() && columns.is_used();
  if (!has_whole || !MultipliesPlain(ops)) return 0;
  return ops.adapter_scales().size(-1) * columns.down.size(1);
}

// Rows that were made for another layer may have less room, or none.
bool Linear::TakesWhole(const Ops& ops, const Rows& x) const {
  const int64_t room = RoomIn(ops);
  return room > 0 && x.whole.defined() && x.whole.size(-1) >= x.values.size(-1) + room;
}

bool Linear::FusesGelu(const Ops& ops, const Rows& x) const {
  if (!bias.defined() || !Adapts(ops)) return bias.defined();
  if (!columns.whole.defined() || !MultipliesPlain(ops)) return false;
  return !columns.is_used() || TakesWhole(ops, x);
}

Rows Linear::GeluOf(const Ops& ops, const Rows& x, int64_t room) const {
  if (!TakesWhole(ops, x)) return LinearGelu(ops, x.values, Values(), bias, room);
  const LengthenedOperands both = Lengthened(ops, x, columns, ops.adapter_scales());
  return LinearGelu(ops, both.x, both.weight, bias, room);
}

at::Tensor Linear::operator()(const Ops& ops, const Rows& x) const {
  if (!Adapts(ops)) return Product(ops, x);
  if (TakesWhole(ops, x)) {
    const LengthenedOperands both = Lengthened(ops, x, columns, ops.adapter_scales());
    return ops.Linear(both.x, both.weight, bias);
  }
  if (MultipliesPlain(ops)) return (*this)(ops, x.values);
  const at::Tensor y = Product(ops, InForm(ops, x.values, CodesIn(ops)));
  AddLowRank(ops, x.values, columns, ops.adapter_scales(), y);
  return y;
}

at::Tensor Linear::Product(const Ops& ops, const Rows& x) const {
  if (!x.scale.defined()) return ops.Linear(x.values, Values(), bias);
  const CodedWeight& coded = x.values.scalar_type() == at::kChar ? int8 : e4m3;
  return ops.Linear(x, coded, bias, type());
}

void Linear::MakeE4m3() {
  multiplies_codes = true;
  if (e4m3.defined()) return;
  e4m3 = weight.is_meta() ? EmptyE4m3(weight.sizes(), at::kMeta) : CodesOfRows(weight);
  DropWeight();
}

void Linear::MakeInt8() {
  if (int8.defined()) return;
  constexpr int64_t kRun = 8, kQuarters = kernels::kTurnedTogether / kRun;
  const at::Tensor wide = Values().to(at::kFloat);
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
  if (held().is_meta()) {
    gelu.codes = EmptyE4m3(held().sizes(), at::kMeta).codes;
    e4m3 = CodedWeight();
    return DropWeight();
  }
  const at::Tensor wide = Values().to(at::kFloat);
  const at::Tensor largest = wide.abs().amax().clamp_min(kLeastMaximum);
  gelu.weight_scale = at::exp2(at::ceil(at::log2(largest / kLargestE4m3))).reshape({1});
  gelu.codes = (wide / gelu.weight_scale).to(at::kFloat8_e4m3fn);
  gelu.out_scale = ReachOf(wide, bias) / kLargestE4m3;
  const auto options = gelu.weight_scale.options();
  gelu.x_scale = at::full({1}, kE4m3GeluXScale, options);
  gelu.to_out = at::full({1}, 1 / gelu.out_scale, options);
  gelu.out_scales = at::full({kE4m3GeluRows}, gelu.out_scale, options);
  e4m3 = CodedWeight();
  DropWeight();
}

void VisitTensors(Linear& layer, const TensorVisitor& visit) {
  VisitIfDefined(layer.weight, visit);
  if (layer.defined() && !layer.weight.defined()) {
    for (at::Tensor* codes : {&layer.e4m3.codes, &layer.e4m3.scale, &layer.gelu.codes}) {
      VisitIfDefined(*codes, visit);
    }
  }
  VisitIfDefined(layer.bias, visit);
}

Linear OutputsFrom(const Linear& layer, int64_t first) {
  const auto from = [first](const at::Tensor& t) { return t.defined() ? t.slice(0, first) : t; };
  LowRankColumns columns = layer.columns;
  if (columns.whole.defined()) {
    columns.whole = columns.whole.slice(0, first);  // the columns of all parts stay
  } else if (columns.defined()) {
    const int64_t part = first / columns.up.size(1);
    columns.down = columns.down.slice(1, part);
    columns.up = columns.up.slice(0, part);
  }
  return {.weight = from(layer.weight),
          .bias = from(layer.bias),
          .e4m3 = {from(layer.e4m3.codes), from(layer.e4m3.scale)},
          .int8 = {from(layer.int8.codes), from(layer.int8.scale)},
          .gelu = {},
          .columns = columns,
          .replaced = layer.replaced,
          .multiplies_codes = layer.multiplies_codes};
}

Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias) {
  const bool has_codes = weights.HasCodes(name + ".weight");
  Linear linear = ReadLinear(weights, name, in, out, {.codes = has_codes, .bias = has_bias});
  linear.columns = weights.ColumnsFor({name}, in, out, linear.weight);
  return linear;
}

Linear TakeLinears(Weights& weights, const std::vector<std::string>& names, int64_t in, int64_t out,
                   bool has_bias) {
  const bool has_codes = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return weights.HasCodes(name + ".weight");
  });
  const int64_t rows = static_cast<int64_t>(names.size()) * out;
  Linear all = EmptyLinear(weights, in, rows, {.codes = has_codes, .bias = has_bias});
  int64_t row = 0;
  for (const std::string& name : names) {
    const Linear one = ReadLinear(weights, name, in, out, {.codes = has_codes, .bias = has_bias});
    if (!weights.ok()) return {};  // Finish reports the reason
    CopyRows(one, row, all);
    row += out;
  }
  all.columns = weights.ColumnsFor(names, in, out, all.weight);
  return all;
}

}  // namespace reel::model
