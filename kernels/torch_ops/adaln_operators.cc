// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln.h"
#include "kernels/gate/gate_residual.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

AdalnRmsNormArgs AdalnRmsNormArgsOf(const TorchCall& call) {
  return {.x = call.View("x"),
          .weight = call.OptionalView("weight"),
          .scale = call.View("scale"),
          .shift = call.View("shift"),
          .scale_bias = call.OptionalView("scale_bias"),
          .shift_bias = call.OptionalView("shift_bias"),
          .out = call.View("out"),
          .eps = call.Real("eps")};
}

absl::Status RunAdalnRmsNorm(const TorchCall& call, const Execution& run) {
  return AdalnRmsNorm(AdalnRmsNormArgsOf(call), run);
}

// An output in e4m3, of a call whose arguments have its scales.
template <typename Args>
Args WithE4m3(const TorchCall& call, Args args) {
  args.out_scale = call.OptionalView("out_scale");
  args.static_out_scale = call.OptionalReal("static_out_scale");
  return args;
}

absl::Status RunAdalnRmsNormE4m3(const TorchCall& call, const Execution& run) {
  return AdalnRmsNorm(WithE4m3(call, AdalnRmsNormArgsOf(call)), run);
}
TorchOutputs ModulatedE4m3(const TorchCall& call) { return QuantizedX(call, "static_out_scale"); }

absl::Status RunAdalnLayerNorm(const TorchCall& call, const Execution& run) {
  return AdalnLayerNorm({.x = call.View("x"),
                         .weight = call.OptionalView("weight"),
                         .bias = call.OptionalView("bias"),
                         .scale = call.View("scale"),
                         .shift = call.View("shift"),
                         .scale_bias = call.OptionalView("scale_bias"),
                         .shift_bias = call.OptionalView("shift_bias"),
                         .out = call.View("out"),
                         .eps = call.Real("eps")},
                        run);
}

absl::Status RunAdalnZero(const TorchCall& call, const Execution& run) {
  return AdalnZero({.x = call.View("x"),
                    .weight = call.OptionalView("weight"),
                    .scale = call.View("scale"),
                    .shift = call.View("shift"),
                    .gate = call.View("gate"),
                    .scale_bias = call.OptionalView("scale_bias"),
                    .shift_bias = call.OptionalView("shift_bias"),
                    .gate_bias = call.OptionalView("gate_bias"),
                    .out = call.View("out"),
                    .eps = call.Real("eps")},
                   run);
}

absl::Status RunGateResidual(const TorchCall& call, const Execution& run) {
  return GateResidual({.x = call.View("x"),
                       .y = call.View("y"),
                       .gate = call.OptionalView("gate"),
                       .gate_bias = call.OptionalView("gate_bias"),
                       .out = call.View("out")},
                      run);
}

GateResidualAdalnArgs GateResidualAdalnArgsOf(const TorchCall& call) {
  return {.x = call.View("x"),
          .y = call.View("y"),
          .gate = call.OptionalView("gate"),
          .gate_bias = call.OptionalView("gate_bias"),
          .scale = call.View("scale"),
          .shift = call.View("shift"),
          .scale_bias = call.OptionalView("scale_bias"),
          .shift_bias = call.OptionalView("shift_bias"),
          .sum = call.View("sum"),
          .out = call.View("out"),
          .eps = call.Real("eps")};
}

absl::Status RunGateResidualAdaln(const TorchCall& call, const Execution& run) {
  return GateResidualAdaln(GateResidualAdalnArgsOf(call), run);
}

absl::Status RunGateResidualAdalnE4m3(const TorchCall& call, const Execution& run) {
  return GateResidualAdaln(WithE4m3(call, GateResidualAdalnArgsOf(call)), run);
}
// The codes, the sum, the scales.
TorchOutputs GatedE4m3(const TorchCall& call) {
  TorchOutputs outputs = QuantizedX(call, "static_out_scale");
  const at::Tensor x = call.Tensor("x");
  outputs.insert(outputs.begin() + 1, EmptyBeside(x, x.sym_sizes()));
  return outputs;
}

}  // namespace

std::vector<TorchOperator> AdalnOperators() {
  return {
      {"adaln_rms_norm", "adaln_rms_norm", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor? weight, Tensor scale, Tensor shift, Tensor? scale_bias=None, "
       "Tensor? shift_bias=None, *, float eps=1e-6",
       LikeX, RunAdalnRmsNorm},
      {"adaln_rms_norm_e4m3", "adaln_rms_norm", "Tensor(a!) out, Tensor(b!)? out_scale",
       "(Tensor, Tensor)",
       "Tensor x, Tensor? weight, Tensor scale, Tensor shift, Tensor? scale_bias=None, "
       "Tensor? shift_bias=None, *, float eps=1e-6, float? static_out_scale=None",
       ModulatedE4m3, RunAdalnRmsNormE4m3},
      {"adaln_layer_norm", "adaln_layer_norm", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor? weight, Tensor? bias, Tensor scale, Tensor shift, "
       "Tensor? scale_bias=None, Tensor? shift_bias=None, *, float eps=1e-5",
       LikeX, RunAdalnLayerNorm},
      {"adaln_zero", "adaln_zero", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor? weight, Tensor scale, Tensor shift, Tensor gate, "
       "Tensor? scale_bias=None, Tensor? shift_bias=None, Tensor? gate_bias=None, *, "
       "float eps=1e-6",
       LikeX, RunAdalnZero},
      {"gate_residual", "gate_residual", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor y, Tensor? gate=None, Tensor? gate_bias=None, *", LikeX, RunGateResidual},
      {"gate_residual_adaln", "gate_residual_adaln", "Tensor(a!) out, Tensor(b!) sum",
       "(Tensor, Tensor)",
       "Tensor x, Tensor y, Tensor? gate, Tensor scale, Tensor shift, Tensor? gate_bias=None, "
       "Tensor? scale_bias=None, Tensor? shift_bias=None, *, float eps=1e-6",
       LikeXTwice, RunGateResidualAdaln},
      {"gate_residual_adaln_e4m3", "gate_residual_adaln",
       "Tensor(a!) out, Tensor(b!) sum, Tensor(c!)? out_scale", "(Tensor, Tensor, Tensor)",
       "Tensor x, Tensor y, Tensor? gate, Tensor scale, Tensor shift, Tensor? gate_bias=None, "
       "Tensor? scale_bias=None, Tensor? shift_bias=None, *, float eps=1e-6, "
       "float? static_out_scale=None",
       GatedE4m3, RunGateResidualAdalnE4m3},
  };
}

}  // namespace reel::kernels
