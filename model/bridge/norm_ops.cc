// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/norm_call.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"
#include "model/bridge/or_none.h"

namespace reel::model {
namespace {

using kernels::Execution;

using RmsNormCall = kernels::RmsNormOperands<Tensors>;

at::Tensor RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scaled = wide * at::rsqrt(wide.pow(2).mean(-1, true) + eps);
  return weight * scaled.to(weight.scalar_type());
}

void RunRmsNorm(const RmsNormCall& call) {
  call.out = call.round_before_weight
                 ? RmsNormRoundedFirst(call.x, *call.weight, call.eps)
                 : at::rms_norm(call.x, {call.x.size(-1)}, OrNone(call.weight), call.eps);
}

using FusedTensors = kernels::FusedOperands<Tensors>;

// Vectors as they broadcast over the call's rows.
at::Tensor Taken(const FusedTensors& call, const at::Tensor* vectors) {
  if (vectors == nullptr) return {};
  if (!vectors->defined() || call.vector_of == nullptr || !call.vector_of->defined()) {
    return *vectors;
  }
  return vectors->flatten(0, 1)
      .index_select(0, call.vector_of->flatten())
      .unflatten(0, call.vector_of->sizes());
}

at::Tensor Normed(const kernels::FusedOp& of, const FusedTensors& call, const at::Tensor& sum) {
  const double eps = call.eps.value_or(of.eps);
  const int64_t width = sum.size(-1);
  if (of.statistic == kernels::Statistic::kMeanSquare) {
    return at::rms_norm(sum, {width}, OrNone(call.weight), eps);
  }
  return at::layer_norm(sum, {width}, OrNone(call.weight), OrNone(call.bias), eps);
}

void RunNorm(const NormCall& norm) {
  const FusedTensors& call = norm.operands;
  at::Tensor sum = call.x;
  if (call.residual != nullptr) {
    const at::Tensor gate = Taken(call, call.residual_gate);
    sum = gate.defined() ? call.x + *call.residual * gate : call.x + *call.residual;
  }
  if (call.sum != nullptr) *call.sum = sum;
  if (call.out == nullptr) return;
  const at::Tensor normed = Normed(norm.of, call, sum);
  *call.out = call.scale == nullptr
                  ? normed
                  : normed * (1 + Taken(call, call.scale)) + Taken(call, call.shift);
}

void CallNorm(const Ops& ops, const NormCall& norm) {
  const FusedTensors& call = norm.operands;
  ops.Call(norm.of.name, call.x.scalar_type(), &norm, [&](const Execution& run) {
    // In what the caller has, where it has memory for them.
    if (call.sum != nullptr && !call.sum->defined()) {
      *call.sum = call.out == nullptr ? at::empty_like(call.x)
                                      : at::empty(call.x.sizes(), call.x.options());
    }
    if (call.out != nullptr && !call.out->defined()) {
      *call.out = at::empty_like(call.sum == nullptr ? call.x : *call.sum);
    }
    return kernels::RunFused(norm.of, ViewsOf(call), run);
  });
}

}  // namespace

void AddNormVariants(kernels::KernelCatalog& catalog) {
  catalog.AddFramework({AtenVariant<RunRmsNorm>("rms_norm")}, BelowCpuAndDevice(catalog));
  for (const kernels::FusedOp& of :
       {kernels::kLayerNorm, kernels::kAdalnRmsNorm, kernels::kAdalnLayerNorm,
        kernels::kGateResidual, kernels::kGateResidualAdaln}) {
    catalog.AddFramework({AtenVariant<RunNorm>(of.name)}, BelowCpuAndDevice(catalog));
  }
}

at::Tensor Ops::RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) const {
  at::Tensor out;
  Run<kernels::RmsNorm>("rms_norm", RmsNormCall{.x = x, .weight = &weight, .out = out, .eps = eps},
                        [&] { out = at::empty_like(x); });
  return out;
}

at::Tensor Ops::RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight,
                                    double eps) const {
  at::Tensor out;
  const RmsNormCall call = {
      .x = x, .weight = &weight, .out = out, .eps = eps, .round_before_weight = true};
  Run<kernels::RmsNorm>("rms_norm", call, [&] { out = at::empty_like(x, weight.options()); });
  return out;
}

at::Tensor Ops::LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          double eps) const {
  at::Tensor out;
  CallNorm(*this, {kernels::kLayerNorm,
                   {.x = x, .weight = &weight, .bias = &bias, .out = &out, .eps = eps}});
  return out;
}

at::Tensor Ops::AdalnRmsNorm(const at::Tensor& x, const Modulation& modulation,
                             at::Tensor out) const {
  CallNorm(*this, {kernels::kAdalnRmsNorm,
                   {.x = x,
                    .scale = &modulation.scale,
                    .shift = &modulation.shift,
                    .out = &out,
                    .eps = modulation.eps,
                    .vector_of = &modulation.vector_of}});
  return out;
}

at::Tensor Ops::AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale,
                               const at::Tensor& shift, double eps) const {
  at::Tensor out;
  CallNorm(*this, {kernels::kAdalnLayerNorm,
                   {.x = x, .scale = &scale, .shift = &shift, .out = &out, .eps = eps}});
  return out;
}

at::Tensor Ops::GateResidual(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate,
                             const at::Tensor& vector_of) const {
  at::Tensor sum;
  CallNorm(
      *this,
      {kernels::kGateResidual,
       {.x = x, .residual = &y, .residual_gate = &gate, .sum = &sum, .vector_of = &vector_of}});
  return sum;
}

Ops::SumAndNorm Ops::GateResidualAdaln(const at::Tensor& x, const at::Tensor& y,
                                       const at::Tensor& gate, const Modulation& modulation,
                                       SumAndNorm result) const {
  CallNorm(*this, {kernels::kGateResidualAdaln,
                   {.x = x,
                    .residual = &y,
                    .residual_gate = &gate,
                    .scale = &modulation.scale,
                    .shift = &modulation.shift,
                    .sum = &result.sum,
                    .out = &result.out,
                    .eps = modulation.eps,
                    .vector_of = &modulation.vector_of}});
  return result;
}

}  // namespace reel::model
