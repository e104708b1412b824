// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/row_ops.h"

#include <optional>

#include "kernels/activation/activation.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "kernels/head_gate/head_gate.h"
#include "kernels/int8_rows/int8_rows.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/matrix_products.h"
#include "model/bridge/norm_call.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

using kernels::OptionalViewOf;
using kernels::ViewOf;

std::optional<double> FixedScaleOf(RowForm form) {
  return form == RowForm::kE4m3Gelu ? std::optional(kE4m3GeluXScale) : std::nullopt;
}

// Codes of the sizes of x [..., D].
Rows EmptyCodesLike(const at::Tensor& x, RowForm form) {
  const at::ScalarType type = form == RowForm::kInt8 ? at::kChar : at::kFloat8_e4m3fn;
  const at::Tensor codes = at::empty(x.sizes(), x.options().dtype(type));
  if (FixedScaleOf(form).has_value()) return {codes};
  const at::IntArrayRef rows = x.sizes().slice(0, x.sizes().size() - 1);
  return {codes, at::empty(rows, x.options().dtype(at::kFloat))};
}

struct GatedSum {
  const at::Tensor &x, &y, &gate;
};

// libtorch's variants bring memory of their own.
void PutInto(const at::Tensor& into, const at::Tensor& made) {
  if (!made.is_same(into)) into.copy_(made);
}

// Rows like x that `make` writes to its argument, or to memory of its own where that is undefined.
template <typename Make>
Rows PlainRows(const at::Tensor& x, const RowNeeds& needs, const Make& make) {
  if (needs.room == 0) return {make(at::Tensor())};
  const Rows rows = EmptyRows(x.sizes(), x.options(), needs.room);
  PutInto(rows.values, make(rows.values));
  return rows;
}

void PlainSum(const Ops& ops, const GatedSum& of, const Modulation& modulation,
              const SumAndRows& into) {
  const auto [sum, out] =
      ops.GateResidualAdaln(of.x, of.y, of.gate, modulation, {into.sum, into.rows.values});
  PutInto(into.sum, sum);
  PutInto(into.rows.values, out);
}

// Codes are of kernels/ alone.
void ToCodes(const Ops& ops, const NormCall& call) {
  ThrowIfError(kernels::RunFused(call.of, ViewsOf(call.operands), ops.run()));
}

void SumToCodes(const Ops& ops, const GatedSum& of, const Modulation& modulation,
                const SumAndRows& into, RowForm form) {
  at::Tensor sum = into.sum, codes = into.rows.values, scales = into.rows.scale;
  ToCodes(ops, {kernels::kGateResidualAdaln,
                {.x = of.x,
                 .residual = &of.y,
                 .residual_gate = &of.gate,
                 .scale = &modulation.scale,
                 .shift = &modulation.shift,
                 .sum = &sum,
                 .out = &codes,
                 .eps = modulation.eps,
                 .out_scale = &scales,
                 .static_out_scale = FixedScaleOf(form),
                 .vector_of = &modulation.vector_of}});
}

template <typename Sum>
void EachPart(const at::Tensor& x, const Addend& y, const Modulation& modulation,
              const SumAndRows& result, const Sum& sum) {
  int64_t first = 0;
  for (const at::Tensor& part : y.parts) {
    const auto of = [&](const at::Tensor& t) {
      return t.defined() ? t.slice(0, first, first + part.size(0)) : t;
    };
    const auto vectors = [&](const at::Tensor& t) {
      return modulation.vector_of.defined() ? t : of(t);
    };
    const at::Tensor scale = vectors(modulation.scale), shift = vectors(modulation.shift);
    const Modulation own = {scale, shift, modulation.eps, of(modulation.vector_of)};
    sum({of(x), part, vectors(y.gate)}, own,
        {of(result.sum), {of(result.rows.values), of(result.rows.scale)}});
    first += part.size(0);
  }
}

SumAndRows AllToCodes(const Ops& ops, const at::Tensor& x, const Addend& y,
                      const Modulation& modulation, RowForm form) {
  const SumAndRows result = {at::empty(x.sizes(), x.options()), EmptyCodesLike(x, form)};
  EachPart(x, y, modulation, result,
           [&](const GatedSum& of, const Modulation& own, const SumAndRows& to) {
             SumToCodes(ops, of, own, to, form);
           });
  return result;
}

SumAndRows PlainSumAndRows(const Ops& ops, const at::Tensor& x, const Addend& y,
                           const Modulation& modulation, int64_t room) {
  // libtorch's variants, which a CPU runs, bring memory of their own: there one copy of y is less.
  if (y.parts.size() == 1 || x.is_cpu()) {
    const at::Tensor all = y.parts.size() == 1 ? y.parts[0] : at::cat(y.parts);
    const Rows rows = room > 0 ? EmptyRows(x.sizes(), x.options(), room) : Rows();
    const auto [sum, out] = ops.GateResidualAdaln(x, all, y.gate, modulation, {{}, rows.values});
    if (room == 0) return {sum, {out}};
    PutInto(rows.values, out);
    return {sum, rows};
  }
  const SumAndRows result = {at::empty(x.sizes(), x.options()),
                             EmptyRows(x.sizes(), x.options(), room)};
  EachPart(x, y, modulation, result,
           [&](const GatedSum& of, const Modulation& own, const SumAndRows& to) {
             PlainSum(ops, of, own, to);
           });
  return result;
}

// Of x or, on the way, of its GELU.
Rows ToInt8(const Ops& ops, const at::Tensor& x, bool gelu) {
  const Rows made = EmptyCodesLike(x, RowForm::kInt8);
  ThrowIfError(kernels::Int8Rows(
      {.x = ViewOf(x), .out = ViewOf(made.values), .scale = ViewOf(made.scale), .gelu = gelu},
      ops.run()));
  return made;
}

}  // namespace

RowForm FormOf(const kernels::Execution& run) {
  if (kernels::HasInt8Layers(run.plan.profile())) return RowForm::kInt8;
  return kernels::HasE4m3Layers(run.plan.profile()) ? RowForm::kE4m3 : RowForm::kPlain;
}

Rows InForm(const Ops& ops, const at::Tensor& x, RowForm form) {
  if (form == RowForm::kPlain) return {x};
  if (form == RowForm::kInt8) return ToInt8(ops, x, /*gelu=*/false);
  const Rows rows = EmptyCodesLike(x, form);
  ThrowIfError(kernels::QuantizeRows({.x = ViewOf(x),
                                      .out = ViewOf(rows.values),
                                      .scale = OptionalViewOf(rows.scale),
                                      .static_scale = {}},
                                     ops.run()));
  return rows;
}

Rows AdalnRmsNorm(const Ops& ops, const at::Tensor& x, const Modulation& modulation,
                  const RowNeeds& needs) {
  if (needs.form == RowForm::kPlain) {
    return PlainRows(x, needs,
                     [&](const at::Tensor& out) { return ops.AdalnRmsNorm(x, modulation, out); });
  }
  Rows rows = EmptyCodesLike(x, needs.form);
  ToCodes(ops, {kernels::kAdalnRmsNorm,
                {.x = x,
                 .scale = &modulation.scale,
                 .shift = &modulation.shift,
                 .out = &rows.values,
                 .eps = modulation.eps,
                 .out_scale = &rows.scale,
                 .static_out_scale = FixedScaleOf(needs.form),
                 .vector_of = &modulation.vector_of}});
  return rows;
}

SumAndRows SumAdalnRmsNorm(const Ops& ops, const at::Tensor& x, const Addend& y,
                           const Modulation& modulation, const RowNeeds& needs) {
  return needs.form == RowForm::kPlain ? PlainSumAndRows(ops, x, y, modulation, needs.room)
                                       : AllToCodes(ops, x, y, modulation, needs.form);
}

Rows LinearGelu(const Ops& ops, const at::Tensor& x, const at::Tensor& weight,
                const at::Tensor& bias, int64_t room) {
  const at::Tensor out = ops.LinearGelu(x, weight, bias, nullptr, room);
  const int64_t step = StepOf(out), width = out.size(-1);
  if (room == 0 || step != width + room) return {out};
  auto longer = out.sizes().vec();
  longer.back() = step;
  return {out, {}, out.as_strided(longer, out.strides())};
}

Rows LinearGelu(const Ops& ops, const at::Tensor& x, const E4m3Gelu& weight,
                const at::Tensor& bias) {
  const aten::LinearGeluScales scales = {weight.x_scale, weight.weight_scale, weight.to_out};
  const at::Tensor codes = ops.LinearGelu(x, weight.codes, bias, &scales);
  const at::IntArrayRef rows = codes.sizes().slice(0, static_cast<size_t>(codes.dim()) - 1);
  const int64_t count = c10::multiply_integers(rows);
  if (count <= weight.out_scales.size(0)) {
    return {codes, weight.out_scales.slice(0, 0, count).view(rows)};
  }
  return {codes, at::full(rows, weight.out_scale, codes.options().dtype(at::kFloat))};
}

Rows HeadGate(const Ops& ops, const at::Tensor& x, const at::Tensor& logits,
              const RowNeeds& needs) {
  if (needs.form == RowForm::kPlain) {
    return PlainRows(x, needs, [&](const at::Tensor& out) { return ops.HeadGate(x, logits, out); });
  }
  const Rows rows = EmptyCodesLike(x, needs.form);
  ThrowIfError(kernels::HeadGate({.x = ViewOf(x),
                                  .logits = ViewOf(logits),
                                  .out = ViewOf(rows.values),
                                  .out_scale = ViewOf(rows.scale)},
                                 ops.run()));
  return rows;
}

Rows GeluTanh(const Ops& ops, const at::Tensor& x, const RowNeeds& needs) {
  if (needs.form == RowForm::kPlain) {
    return PlainRows(x, needs, [&](const at::Tensor& out) { return ops.GeluTanh(x, out); });
  }
  if (needs.form == RowForm::kInt8) return ToInt8(ops, x, /*gelu=*/true);
  const Rows rows = EmptyCodesLike(x, needs.form);
  ThrowIfError(kernels::ActivationOp({.x = ViewOf(x),
                                      .bias = {},
                                      .out = ViewOf(rows.values),
                                      .kind = kernels::Activation::kGeluTanh,
                                      .out_scale = ViewOf(rows.scale)},
                                     ops.run()));
  return rows;
}

}  // namespace reel::model
