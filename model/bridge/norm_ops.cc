// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string_view>

#include "kernels/dispatch/run_op.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/norm_call.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"
#include "model/bridge/or_none.h"

namespace reel::model {
namespace {

using kernels::Execution;
using kernels::OptionalViewOf;
using kernels::ViewOf;

struct RmsNormCall {
  static constexpr std::string_view op = "rms_norm";
  const at::Tensor& x;
  const at::Tensor& weight;
  double eps;
  bool round_before_weight;
  at::Tensor& out;
};

at::Tensor RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scaled = wide * at::rsqrt(wide.pow(2).mean(-1, true) + eps);
  return weight * scaled.to(weight.scalar_type());
}

void RunRmsNorm(const RmsNormCall& call) {
  call.out = call.round_before_weight
                 ? RmsNormRoundedFirst(call.x, call.weight, call.eps)
                 : at::rms_norm(call.x, {call.x.size(-1)}, OrNone(call.weight), call.eps);
}

// Vectors as they broadcast over the call's rows.
at::Tensor Taken(const NormCall& call, const at::Tensor* vectors) {
  if (vectors == nullptr) return {};
  if (!vectors->defined() || call.vector_of == nullptr || !call.vector_of->defined()) {
    return *vectors;
  }
  return vectors->flatten(0, 1)
      .index_select(0, call.vector_of->flatten())
      .unflatten(0, call.vector_of->sizes());
}

at::Tensor Normed(const NormCall& call, const at::Tensor& sum) {
  const auto vector = [](const at::Tensor* v) { return v == nullptr ? std::nullopt : OrNone(*v); };
  const int64_t width = sum.size(-1);
  if (call.of.statistic == kernels::Statistic::kMeanSquare) {
    return at::rms_norm(sum, {width}, vector(call.weight), call.eps);
  }
  return at::layer_norm(sum, {width}, vector(call.weight), vector(call.bias), call.eps);
}

void RunNorm(const NormCall& call) {
  at::Tensor sum = call.x;
  if (call.y != nullptr) {
    const at::Tensor gate = Taken(call, call.gate);
    sum = gate.defined() ? call.x + *call.y * gate : call.x + *call.y;
  }
  if (call.sum != nullptr) *call.sum = sum;
  if (call.out == nullptr) return;
  const at::Tensor normed = Normed(call, sum);
  *call.out = call.scale == nullptr
                  ? normed
                  : normed * (1 + Taken(call, call.scale)) + Taken(call, call.shift);
}

void CallNorm(const Ops& ops, const NormCall& call) {
  ops.Call(call.op(), call.x.scalar_type(), &call, [&](const Execution& run) {
    // In what the caller has, where it has memory for them.
    if (call.sum != nullptr && !call.sum->defined()) {
      *call.sum = call.out == nullptr ? at::empty_like(call.x)
                                      : at::empty(call.x.sizes(), call.x.options());
    }
    if (call.out != nullptr && !call.out->defined()) {
      *call.out = at::empty_like(call.sum == nullptr ? call.x : *call.sum);
    }
    return kernels::RunFused(call.of, ViewsOf(call), run);
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
  Call(RmsNormCall{x, weight, eps, false, out}, [&](const Execution& run) {
    out = at::empty_like(x);
    return kernels::RmsNorm({.x = ViewOf(x),
                             .weight = OptionalViewOf(weight),
                             .bias = {},
                             .out = ViewOf(out),
                             .eps = eps},
                            run);
  });
  return out;
}

at::Tensor Ops::RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight,
                                    double eps) const {
  at::Tensor out;
  Call(RmsNormCall{x, weight, eps, true, out}, [&](const Execution& run) {
    out = at::empty_like(x, weight.options());
    return kernels::RmsNorm({.x = ViewOf(x),
                             .weight = ViewOf(weight),
                             .bias = {},
                             .out = ViewOf(out),
                             .eps = eps,
                             .round_before_weight = true},
                            run);
  });
  return out;
}

at::Tensor Ops::LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          double eps) const {
  at::Tensor out;
  CallNorm(*this, {.of = kernels::kLayerNorm,
                   .x = x,
                   .weight = &weight,
                   .bias = &bias,
                   .eps = eps,
                   .out = &out});
  return out;
}

at::Tensor Ops::AdalnRmsNorm(const at::Tensor& x, const Modulation& modulation) const {
  at::Tensor out;
  CallNorm(*this, {.of = kernels::kAdalnRmsNorm,
                   .x = x,
                   .scale = &modulation.scale,
                   .shift = &modulation.shift,
                   .vector_of = &modulation.vector_of,
                   .eps = modulation.eps,
                   .out = &out});
  return out;
}

at::Tensor Ops::AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale,
                               const at::Tensor& shift, double eps) const {
  at::Tensor out;
  CallNorm(*this, {.of = kernels::kAdalnLayerNorm,
                   .x = x,
                   .scale = &scale,
                   .shift = &shift,
                   .eps = eps,
                   .out = &out});
  return out;
}

at::Tensor Ops::GateResidual(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate,
                             const at::Tensor& vector_of) const {
  at::Tensor sum;
  CallNorm(*this, {.of = kernels::kGateResidual,
                   .x = x,
                   .y = &y,
                   .gate = &gate,
                   .vector_of = &vector_of,
                   .sum = &sum});
  return sum;
}

Ops::SumAndNorm Ops::GateResidualAdaln(const at::Tensor& x, const at::Tensor& y,
                                       const at::Tensor& gate, const Modulation& modulation,
                                       SumAndNorm result) const {
  CallNorm(*this, {.of = kernels::kGateResidualAdaln,
                   .x = x,
                   .y = &y,
                   .gate = &gate,
                   .scale = &modulation.scale,
                   .shift = &modulation.shift,
                   .vector_of = &modulation.vector_of,
                   .eps = modulation.eps,
                   .sum = &result.sum,
                   .out = &result.out});
  return result;
}

}  // namespace reel::model
