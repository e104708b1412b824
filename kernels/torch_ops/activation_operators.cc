// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "kernels/activation/activation.h"
#include "kernels/base/status_macros.h"
#include "kernels/head_gate/head_gate.h"
#include "kernels/torch_ops/torch_operator.h"
#include "kernels/torch_views/plugin_schemas.h"

namespace reel::kernels {
namespace {

absl::StatusOr<Activation> KindOf(const TorchCall& call) {
  const std::string name = call.Text("kind");
  if (name == "gelu") return Activation::kGeluErf;
  if (name == "gelu_tanh") return Activation::kGeluTanh;
  if (name == "gelu_quick") return Activation::kGeluQuick;
  if (name == "silu") return Activation::kSilu;
  if (name == "fatrelu") return Activation::kFatRelu;
  return absl::InvalidArgumentError(absl::StrCat(
      "An activation is gelu, gelu_tanh, gelu_quick, silu or fatrelu, not '", name, "'"));
}

absl::Status RunActivation(const TorchCall& call, const Execution& run) {
  REEL_ASSIGN_OR_RETURN(const Activation kind, KindOf(call));
  return ActivationOp({.x = call.View("x"),
                       .bias = call.OptionalView("bias"),
                       .out = call.View("out"),
                       .kind = kind},
                      run);
}

absl::Status RunActivationE4m3(const TorchCall& call, const Execution& run) {
  REEL_ASSIGN_OR_RETURN(const Activation kind, KindOf(call));
  return ActivationOp({.x = call.View("x"),
                       .bias = call.OptionalView("bias"),
                       .out = call.View("out"),
                       .kind = kind,
                       .out_scale = call.OptionalView("out_scale"),
                       .static_out_scale = call.OptionalReal("static_out_scale")},
                      run);
}
TorchOutputs ActivatedE4m3(const TorchCall& call) { return QuantizedX(call, "static_out_scale"); }

absl::Status RunGatedActivation(const TorchCall& call, const Execution& run) {
  REEL_ASSIGN_OR_RETURN(const Activation kind, KindOf(call));
  return GatedActivation({.x = call.View("x"),
                          .value = call.OptionalView("value"),
                          .out = call.View("out"),
                          .kind = kind,
                          .gate_first = call.Flag("gate_first"),
                          .threshold = call.Real("threshold")},
                         run);
}

// Half as wide as x, or like x with a separate value. The call refuses what does not fit.
TorchOutputs GatedOutput(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  auto sizes = x.sym_sizes().vec();
  if (!call.Has("value") && !sizes.empty()) sizes.back() = sizes.back() / 2;
  return {EmptyBeside(x, sizes)};
}

absl::Status RunHeadGate(const TorchCall& call, const Execution& run) {
  return HeadGate({.x = call.View("x"), .logits = call.View("logits"), .out = call.View("out")},
                  run);
}

}  // namespace

std::vector<TorchOperator> ActivationOperators() {
  return {
      {"activation", "activation", "Tensor(a!) out", "Tensor", kActivationArguments, LikeX,
       RunActivation},
      {"activation_e4m3", "activation", "Tensor(a!) out, Tensor(b!)? out_scale", "(Tensor, Tensor)",
       absl::StrCat(kActivationArguments, ", float? static_out_scale=None"), ActivatedE4m3,
       RunActivationE4m3},
      {"gated_activation", "gated_activation", "Tensor(a!) out", "Tensor",
       kGatedActivationArguments, GatedOutput, RunGatedActivation},
      {"head_gate", "head_gate", "Tensor(a!) out", "Tensor", "Tensor x, Tensor logits, *", LikeX,
       RunHeadGate},
  };
}

}  // namespace reel::kernels
