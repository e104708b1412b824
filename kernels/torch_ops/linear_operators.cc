// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <optional>
#include <string_view>

#include "kernels/base/status_macros.h"
#include "kernels/linear/linear.h"
#include "kernels/norm_linear/norm_linear.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

LinearArgs LinearArgsOf(const TorchCall& call) {
  const auto type = call.OptionalType("out_dtype");
  TORCH_CHECK_VALUE(!type.has_value() || *type == call.Tensor("out").scalar_type(),
                    "linear: out is not of the type out_dtype");
  return {.x = call.View("x"),
          .weight = call.View("weight"),
          .bias = call.OptionalView("bias"),
          .out = call.View("out"),
          .x_scale = call.OptionalView("x_scale"),
          .weight_scale = call.OptionalView("weight_scale")};
}

absl::Status RunLinear(const TorchCall& call, const Execution& run) {
  return Linear(LinearArgsOf(call), run);
}

bool HasCodes(const at::Tensor& x) {
  return x.scalar_type() == at::kFloat8_e4m3fn || x.scalar_type() == at::kChar;
}

std::string_view WhyNotAtenLinear(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x"), weight = call.Tensor("weight");
  if (!HasCodes(x) || x.is_cpu()) return "";
  if (x.scalar_type() == at::kChar) return "libtorch has no product of int8 with scales on a GPU";
  const bool fits = weight.dim() == 2 && weight.size(0) % 16 == 0 && weight.size(1) % 16 == 0;
  if (!fits) return "libtorch's product of e4m3 needs sides that are multiples of 16";
  const bool narrow = call.Tensor("out").scalar_type() == at::kBFloat16;
  return narrow ? "" : "libtorch's product of e4m3 gives bf16";
}

// For codes: the same formula in fp32 on a CPU.
at::Tensor ProductOfCodes(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x"), weight = call.Tensor("weight");
  const at::Tensor x_scale = call.Tensor("x_scale").unsqueeze(-1);
  const at::Tensor weight_scale = call.Tensor("weight_scale");
  if (x.is_cpu()) {
    return at::linear(x.to(at::kFloat), weight.to(at::kFloat)) * x_scale * weight_scale;
  }
  const at::Tensor product = at::_scaled_mm(
      x.reshape({-1, x.size(-1)}), weight.contiguous().t(), x_scale.reshape({-1, 1}).contiguous(),
      weight_scale.unsqueeze(0).contiguous(), std::nullopt, std::nullopt, at::kBFloat16,
      /*use_fast_accum=*/false);
  return product.view(call.Tensor("out").sizes());
}

absl::Status RunAtenLinear(const TorchCall& call, DeviceStream stream) {
  REEL_RETURN_IF_ERROR(CheckLinear(LinearArgsOf(call), stream));
  const at::Tensor x = call.Tensor("x");
  at::Tensor out = call.Tensor("out");
  if (out.numel() == 0) return absl::OkStatus();
  std::optional<at::Tensor> bias;
  if (HasCodes(x)) {
    at::Tensor product = ProductOfCodes(call);
    if (call.Has("bias")) product = product.to(at::kFloat) + call.Tensor("bias");
    out.copy_(product);
    return absl::OkStatus();
  }
  if (call.Has("bias")) bias = call.Tensor("bias").to(x.scalar_type());
  if (out.is_contiguous()) {
    at::linear_out(out, x, call.Tensor("weight"), bias);
  } else {
    out.copy_(at::linear(x, call.Tensor("weight"), bias));
  }
  return absl::OkStatus();
}

constexpr AtenForm kAtenLinear = {WhyNotAtenLinear, RunAtenLinear};

// [..., O] in x's type; for codes in out_dtype, or bf16.
TorchOutputs LinearOutput(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x"), weight = call.Tensor("weight");
  TORCH_CHECK_VALUE(x.dim() >= 1 && weight.dim() == 2,
                    "linear: x has at least one dimension, and weight two");
  std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
  sizes.back() = weight.sym_size(0);
  const at::ScalarType usual = HasCodes(x) ? at::kBFloat16 : x.scalar_type();
  const at::ScalarType type = call.OptionalType("out_dtype").value_or(usual);
  return {at::empty_symint(sizes, x.options().dtype(type))};
}

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

// The folded weight; in fp32 its bias, if any, and its sums for a layer norm.
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
      {"linear", "linear", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor weight, Tensor? bias=None, Tensor? x_scale=None, "
       "Tensor? weight_scale=None, *, ScalarType? out_dtype=None",
       LinearOutput, RunLinear, &kAtenLinear},
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
