// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "kernels/norm_linear/norm_linear.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

absl::Status RunNormLinear(const TorchCall& call, const Execution& run) {
  return NormLinear({.x = call.View("x"),
                     .linear = {.weight = call.View("weight"),
                                .bias = call.OptionalView("bias"),
                                .sums = call.OptionalView("sums")},
                     .out = call.View("out"),
                     .eps = call.Real("eps")},
                    run);
}

absl::Status RunPrepareNormLinear(const TorchCall& call, const Execution& run) {
  TORCH_CHECK_VALUE(call.Flag("layer_norm") == call.Has("sums"),
                    "prepare_norm_linear: sums are written for a layer norm, and for no other");
  return PrepareNormLinear({.weight = call.View("weight"),
                            .norm_weight = call.OptionalView("norm_weight"),
                            .bias = call.OptionalView("bias"),
                            .norm_bias = call.OptionalView("norm_bias"),
                            .prepared = {.weight = call.View("out"),
                                         .bias = call.OptionalView("bias_out"),
                                         .sums = call.OptionalView("sums")}},
                           run);
}

// [..., O] for x [..., D] and weight [O, D].
TorchOutputs LinearOf(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x"), weight = call.Tensor("weight");
  TORCH_CHECK_VALUE(x.dim() >= 1 && weight.dim() == 2,
                    "norm_linear: x has at least one dimension, and weight two");
  std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
  sizes.back() = weight.sym_size(0);
  return {EmptyBeside(x, sizes)};
}

// The folded weight; in fp32 its bias if there is one, and its sums for a layer norm.
TorchOutputs PreparedOf(const TorchCall& call) {
  const at::Tensor weight = call.Tensor("weight");
  TORCH_CHECK_VALUE(weight.dim() == 2, "prepare_norm_linear: weight has two dimensions");
  const auto each_output = [&](bool wanted) {
    return wanted ? at::empty_symint({weight.sym_size(0)}, weight.options().dtype(at::kFloat))
                  : at::Tensor();
  };
  return {EmptyBeside(weight, weight.sym_sizes()),
          each_output(call.Has("bias") || call.Has("norm_bias")),
          each_output(call.Flag("layer_norm"))};
}

}  // namespace

std::vector<TorchOperator> LinearOperators() {
  return {
      {"norm_linear", "norm_linear", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor weight, Tensor? bias=None, Tensor? sums=None, *, float eps=1e-6", LinearOf,
       RunNormLinear},
      {"prepare_norm_linear", "prepare_norm_linear",
       "Tensor(a!) out, Tensor(b!)? bias_out, Tensor(c!)? sums", "(Tensor, Tensor, Tensor)",
       "Tensor weight, Tensor? norm_weight=None, Tensor? bias=None, Tensor? norm_bias=None, *, "
       "bool layer_norm=False",
       PreparedOf, RunPrepareNormLinear},
  };
}

}  // namespace reel::kernels
