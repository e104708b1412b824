// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/torch_ops/torch_operator.h"
#include "kernels/torch_views/plugin_schemas.h"

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

}  // namespace

std::vector<TorchOperator> NormOperators() {
  return {
      {"rms_norm", "rms_norm", "Tensor(a!) out", "Tensor", kRmsNormArguments, LikeX, RunRmsNorm},
      {"rms_norm_e4m3", "rms_norm", "Tensor(a!) out, Tensor(b!)? out_scale", "(Tensor, Tensor)",
       absl::StrCat(kRmsNormArguments, ", float? static_out_scale=None"), NormedE4m3,
       RunRmsNormE4m3},
  };
}

}  // namespace reel::kernels
