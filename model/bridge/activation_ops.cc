// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/activation/activation.h"
#include "kernels/head_gate/head_gate.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"

namespace reel::model {
namespace {

using ActivationCall = kernels::ActivationOperands<Tensors>;
void RunGeluTanh(const ActivationCall& call) { call.out = at::gelu(call.x, "tanh"); }

using GatedCall = kernels::GatedActivationOperands<Tensors>;
// gelu_tanh(x) * value, op by op in the tensors' type, as T5 does.
void RunGatedGelu(const GatedCall& call) {
  const double root = std::sqrt(2.0 / M_PI);
  const at::Tensor inner = root * (call.x + 0.044715 * at::pow(call.x, 3.0));
  call.out = 0.5 * call.x * (1.0 + at::tanh(inner)) * *call.value;
}

using HeadGateCall = kernels::HeadGateOperands<Tensors>;
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

at::Tensor Ops::GeluTanh(const at::Tensor& x, at::Tensor out) const {
  Run<kernels::ActivationOp>("activation", ActivationCall{.x = x, .out = out}, [&] {
    if (!out.defined()) out = at::empty_like(x);
  });
  return out;
}

at::Tensor Ops::HeadGate(const at::Tensor& x, const at::Tensor& logits, at::Tensor out) const {
  Run<kernels::HeadGate>("head_gate", HeadGateCall{.x = x, .logits = logits, .out = out}, [&] {
    if (!out.defined()) out = at::empty_like(x);
  });
  return out;
}

at::Tensor Ops::GatedGelu(const at::Tensor& gate, const at::Tensor& value) const {
  at::Tensor out;
  Run<kernels::GatedActivation>("gated_activation",
                                GatedCall{.x = gate, .value = &value, .out = out},
                                [&] { out = at::empty_like(value); });
  return out;
}

}  // namespace reel::model
