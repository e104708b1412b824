// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/row_ops.h"

#include "kernels/activation/activation.h"
#include "kernels/adaln/adaln.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "kernels/gate/gate_residual.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

using kernels::OptionalViewOf;
using kernels::ViewOf;

Rows EmptyE4m3Like(const at::Tensor& x) {
  const at::IntArrayRef leads = x.sizes().slice(0, static_cast<size_t>(x.dim()) - 1);
  return {at::empty(x.sizes(), x.options().dtype(at::kFloat8_e4m3fn)),
          at::empty(leads, x.options().dtype(at::kFloat))};
}

struct GatedSum {
  const at::Tensor &x, &y, &gate;
};

void PlainSum(const Ops& ops, const GatedSum& of, const Modulation& modulation,
              const SumAndRows& into) {
  const auto [sum, out] =
      ops.GateResidualAdaln(of.x, of.y, of.gate, modulation, {into.sum, into.rows.values});
  if (sum.is_same(into.sum)) return;
  into.sum.copy_(sum);
  into.rows.values.copy_(out);
}

void SumToE4m3(const Ops& ops, const GatedSum& of, const Modulation& modulation,
               const SumAndRows& into) {
  ThrowIfError(kernels::GateResidualAdaln({.x = ViewOf(of.x),
                                           .y = ViewOf(of.y),
                                           .gate = OptionalViewOf(of.gate),
                                           .gate_bias = {},
                                           .scale = ViewOf(modulation.scale),
                                           .shift = ViewOf(modulation.shift),
                                           .scale_bias = {},
                                           .shift_bias = {},
                                           .sum = ViewOf(into.sum),
                                           .out = ViewOf(into.rows.values),
                                           .eps = modulation.eps,
                                           .out_scale = ViewOf(into.rows.scale)},
                                          ops.run()));
}

}  // namespace

RowForm FormOf(const kernels::Execution& run) {
  return run.plan.profile() == kernels::kFp8Profile ? RowForm::kE4m3 : RowForm::kPlain;
}

Rows InForm(const Ops& ops, const at::Tensor& x, RowForm form) {
  if (form == RowForm::kPlain) return {x};
  Rows rows = EmptyE4m3Like(x);
  ThrowIfError(kernels::QuantizeRows(
      {.x = ViewOf(x), .out = ViewOf(rows.values), .scale = ViewOf(rows.scale), .static_scale = {}},
      ops.run()));
  return rows;
}

Rows AdalnRmsNorm(const Ops& ops, const at::Tensor& x, const Modulation& modulation, RowForm form) {
  const auto& [scale, shift, eps] = modulation;
  if (form == RowForm::kPlain) return {ops.AdalnRmsNorm(x, scale, shift, eps)};
  Rows rows = EmptyE4m3Like(x);
  ThrowIfError(kernels::AdalnRmsNorm({.x = ViewOf(x),
                                      .weight = {},
                                      .scale = ViewOf(scale),
                                      .shift = ViewOf(shift),
                                      .scale_bias = {},
                                      .shift_bias = {},
                                      .out = ViewOf(rows.values),
                                      .eps = eps,
                                      .out_scale = ViewOf(rows.scale)},
                                     ops.run()));
  return rows;
}

SumAndRows SumAdalnRmsNorm(const Ops& ops, const at::Tensor& x, const Addend& y,
                           const Modulation& modulation, RowForm form) {
  const bool plain = form == RowForm::kPlain;
  SumAndRows result;
  if (plain && y.parts.size() == 1) {
    const auto [sum, out] = ops.GateResidualAdaln(x, y.parts[0], y.gate, modulation);
    return {sum, {out}};
  }
  const at::Tensor like = at::empty(x.sizes(), x.options());
  result = {like, plain ? Rows{at::empty_like(like)} : EmptyE4m3Like(like)};
  int64_t first = 0;
  for (const at::Tensor& part : y.parts) {
    const auto of = [&](const at::Tensor& t) {
      return t.defined() ? t.slice(0, first, first + part.size(0)) : t;
    };
    const Modulation own = {of(modulation.scale), of(modulation.shift), modulation.eps};
    const SumAndRows into = {of(result.sum), {of(result.rows.values), of(result.rows.scale)}};
    if (plain) {
      PlainSum(ops, {of(x), part, of(y.gate)}, own, into);
    } else {
      SumToE4m3(ops, {of(x), part, of(y.gate)}, own, into);
    }
    first += part.size(0);
  }
  return result;
}

Rows GeluTanh(const Ops& ops, const at::Tensor& x, RowForm form) {
  if (form == RowForm::kPlain) return {ops.GeluTanh(x)};
  Rows rows = EmptyE4m3Like(x);
  ThrowIfError(kernels::ActivationOp({.x = ViewOf(x),
                                      .bias = {},
                                      .out = ViewOf(rows.values),
                                      .kind = kernels::Activation::kGeluTanh,
                                      .out_scale = ViewOf(rows.scale)},
                                     ops.run()));
  return rows;
}

}  // namespace reel::model
