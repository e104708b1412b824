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

using kernels::ViewOf;

Rows EmptyE4m3Like(const at::Tensor& x) {
  const at::IntArrayRef leads = x.sizes().slice(0, static_cast<size_t>(x.dim()) - 1);
  return {at::empty(x.sizes(), x.options().dtype(at::kFloat8_e4m3fn)),
          at::empty(leads, x.options().dtype(at::kFloat))};
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

SumAndRows SumAdalnRmsNorm(const Ops& ops, const at::Tensor& x, const at::Tensor& y,
                           const Modulation& modulation, RowForm form) {
  const auto& [scale, shift, eps] = modulation;
  if (form == RowForm::kPlain) {
    const auto [sum, out] = ops.GateResidualAdaln(x, y, {}, scale, shift, eps);
    return {sum, {out}};
  }
  SumAndRows result = {at::empty_like(x), EmptyE4m3Like(x)};
  ThrowIfError(kernels::GateResidualAdaln({.x = ViewOf(x),
                                           .y = ViewOf(y),
                                           .gate = {},
                                           .gate_bias = {},
                                           .scale = ViewOf(scale),
                                           .shift = ViewOf(shift),
                                           .scale_bias = {},
                                           .shift_bias = {},
                                           .sum = ViewOf(result.sum),
                                           .out = ViewOf(result.rows.values),
                                           .eps = eps,
                                           .out_scale = ViewOf(result.rows.scale)},
                                          ops.run()));
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
