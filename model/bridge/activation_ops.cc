// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>

#include "kernels/activation/activation.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/head_gate/head_gate.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"

namespace reel::model {
namespace {

using kernels::Execution;
using kernels::ViewOf;

struct GeluTanhCall {
  static constexpr std::string_view op = "activation";
  const at::Tensor& x;
  at::Tensor& out;
};
void RunGeluTanh(const GeluTanhCall& call) { call.out = at::gelu(call.x, "tanh"); }

struct GatedGeluCall {
  static constexpr std::string_view op = "gated_activation";
  const at::Tensor& x;  // the gate
  const at::Tensor& value;
  at::Tensor& out;
};
// Op by op in the tensors' type, as T5 does.
void RunGatedGelu(const GatedGeluCall& call) {
  const double root = std::sqrt(2.0 / M_PI);
  const at::Tensor inner = root * (call.x + 0.044715 * at::pow(call.x, 3.0));
  call.out = 0.5 * call.x * (1.0 + at::tanh(inner)) * call.value;
}

struct HeadGateCall {
  static constexpr std::string_view op = "head_gate";
  const at::Tensor& x;
  const at::Tensor& logits;
  at::Tensor& out;
};
// Op by op in the tensors' type, as diffusers' LTX-2 does.
void RunHeadGate(const HeadGateCall& call) {
  const at::Tensor gates = 2.0 * at::sigmoid(call.logits);
  const at::Tensor heads = call.x.unflatten(-1, {call.logits.size(-1), -1});
  call.out = (heads * gates.unsqueeze(-1)).flatten(-2);
}

}  // namespace

void AddActivationVariants(kernels::KernelCatalog& catalog) {
  catalog.AddFramework({AtenVariant<RunGeluTanh>("activation")}, BelowCpuAndDevice(catalog));
  catalog.AddFramework({AtenVariant<RunGatedGelu>("gated_activation")}, BelowCpuAndDevice(catalog));
  catalog.AddFramework({AtenVariant<RunHeadGate>("head_gate")}, BeforeLoops(catalog));
}

at::Tensor Ops::GeluTanh(const at::Tensor& x) const {
  at::Tensor out;
  Call(GeluTanhCall{x, out}, [&](const Execution& run) {
    out = at::empty_like(x);
    return kernels::ActivationOp(
        {.x = ViewOf(x), .bias = {}, .out = ViewOf(out), .kind = kernels::Activation::kGeluTanh},
        run);
  });
  return out;
}

at::Tensor Ops::HeadGate(const at::Tensor& x, const at::Tensor& logits) const {
  at::Tensor out;
  Call(HeadGateCall{x, logits, out}, [&](const Execution& run) {
    out = at::empty_like(x);
    return kernels::HeadGate({.x = ViewOf(x), .logits = ViewOf(logits), .out = ViewOf(out)}, run);
  });
  return out;
}

at::Tensor Ops::GatedGelu(const at::Tensor& gate, const at::Tensor& value) const {
  at::Tensor out;
  Call(GatedGeluCall{gate, value, out}, [&](const Execution& run) {
    out = at::empty_like(value);
    return kernels::GatedActivation({.x = ViewOf(gate),
                                     .value = ViewOf(value),
                                     .out = ViewOf(out),
                                     .kind = kernels::Activation::kGeluTanh},
                                    run);
  });
  return out;
}

}  // namespace reel::model
