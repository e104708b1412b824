// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rms_norm/rms_norm_residual.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

RmsNormArgs RmsNormArgsOf(const TorchCall& call) {
  return {.x = call.View("x"),
          .weight = call.OptionalView("weight"),
          .bias = call.OptionalView("bias"),
          .out = call.View("out"),
          .eps = call.Real("eps"),
          .weight_offset = call.Real("weight_offset"),
          .round_before_weight = call.Flag("round_before_weight")};
}

absl::Status RunRmsNorm(const TorchCall& call, const Execution& run) {
  return RmsNorm(RmsNormArgsOf(call), run);
}

absl::Status RunRmsNormE4m3(const TorchCall& call, const Execution& run) {
  RmsNormArgs args = RmsNormArgsOf(call);
  args.out_scale = call.OptionalView("out_scale");
  args.static_out_scale = call.OptionalReal("static_out_scale");
  return RmsNorm(args, run);
}
TorchOutputs NormedE4m3(const TorchCall& call) { return QuantizedX(call, "static_out_scale"); }

absl::Status RunRmsNormResidual(const TorchCall& call, const Execution& run) {
  return RmsNormResidual({.x = call.View("x"),
                          .residual = call.View("residual"),
                          .weight = call.OptionalView("weight"),
                          .y = call.View("out"),
                          .sum = call.View("sum"),
                          .eps = call.Real("eps")},
                         run);
}

absl::Status RunLayerNorm(const TorchCall& call, const Execution& run) {
  return LayerNorm({.x = call.View("x"),
                    .weight = call.OptionalView("weight"),
                    .bias = call.OptionalView("bias"),
                    .out = call.View("out"),
                    .eps = call.Real("eps")},
                   run);
}

absl::Status RunLayerNormResidual(const TorchCall& call, const Execution& run) {
  return LayerNormResidual({.x = call.View("x"),
                            .residual = call.View("residual"),
                            .weight = call.OptionalView("weight"),
                            .bias = call.OptionalView("bias"),
                            .y = call.View("out"),
                            .sum = call.View("sum"),
                            .eps = call.Real("eps")},
                           run);
}

}  // namespace

std::vector<TorchOperator> NormOperators() {
  return {
      {"rms_norm", "rms_norm", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=1e-6, "
       "float weight_offset=0.0, bool round_before_weight=False",
       LikeX, RunRmsNorm},
      {"rms_norm_e4m3", "rms_norm", "Tensor(a!) out, Tensor(b!)? out_scale", "(Tensor, Tensor)",
       "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=1e-6, "
       "float weight_offset=0.0, bool round_before_weight=False, float? static_out_scale=None",
       NormedE4m3, RunRmsNormE4m3},
      {"rms_norm_residual", "rms_norm_residual", "Tensor(a!) out, Tensor(b!) sum",
       "(Tensor, Tensor)", "Tensor x, Tensor residual, Tensor? weight=None, *, float eps=1e-6",
       LikeXTwice, RunRmsNormResidual},
      {"layer_norm", "layer_norm", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=1e-5", LikeX, RunLayerNorm},
      {"layer_norm_residual", "layer_norm_residual", "Tensor(a!) out, Tensor(b!) sum",
       "(Tensor, Tensor)",
       "Tensor x, Tensor residual, Tensor? weight=None, Tensor? bias=None, *, float eps=1e-5",
       LikeXTwice, RunLayerNormResidual},
  };
}

}  // namespace reel::kernels
