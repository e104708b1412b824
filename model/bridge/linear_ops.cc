// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "kernels/dispatch/run_op.h"
#include "model/bridge/cublaslt_variant.h"
#include "model/bridge/e4m3_product.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/linear_calls.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"
#include "model/bridge/or_none.h"

namespace reel::model {
namespace {

using aten::LinearCall;
using aten::LinearGeluCall;
using kernels::Execution;
using kernels::HostedVariants;

// libtorch adds the bias inside the product for contiguous rows and for matrices. So strided rows
// are passed as a matrix.
void RunLinear(const LinearCall& call) {
  if (call.x.dim() <= 2 || call.x.is_contiguous() || !HasEvenRows(call.x)) {
    call.out = at::linear(call.x, call.weight, OrNone(call.bias));
    return;
  }
  auto sizes = call.x.sizes().vec();
  sizes.back() = call.weight.size(0);
  const at::Tensor rows = call.x.view({-1, call.x.size(-1)});
  call.out = at::linear(rows, call.weight, OrNone(call.bias)).view(sizes);
}

std::string_view WhyNotLinear(const LinearCall& call) {
  return call.has_codes() ? "its operands are codes with scales" : "";
}

// oneDNN's product with an activation in it, which libtorch has for its compiler: no header
// declares it.
using OnednnLinear = at::Tensor(const at::Tensor& x, const at::Tensor& weight,
                                const std::optional<at::Tensor>& bias, std::string_view activation,
                                c10::List<std::optional<at::Scalar>> scalars,
                                std::optional<std::string_view> algorithm);

std::optional<c10::OperatorHandle> FindOnednnLinear() {
  return c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
}

void RunLinearGelu(const LinearGeluCall& call) {
  if (call.scales != nullptr) return aten::RunE4m3Gelu(call);
  call.out = at::gelu(at::linear(call.x, call.weight, call.bias), "tanh");
}

// The activation inside the matrix product, before its one rounding.
void RunEpilogue(const LinearGeluCall& call) {
  if (call.x.is_cpu()) {
    call.out = FindOnednnLinear()->typed<OnednnLinear>().call(
        call.x, call.weight, OrNone(call.bias), "gelu", c10::List<std::optional<at::Scalar>>(),
        "tanh");
    return;
  }
  const at::Tensor rows = call.x.reshape({-1, call.x.size(-1)});
  auto sizes = call.x.sizes().vec();
  sizes.back() = call.weight.size(0);
  call.out = at::_addmm_activation(call.bias, rows, call.weight.t(), 1, 1, true).view(sizes);
}

// Where libtorch hands the GELU to the matrix product's library; elsewhere it would compose another
// GELU, by erf.
std::string_view WhyNoEpilogue(const LinearGeluCall& call) {
  if (call.scales != nullptr) return "its operands are e4m3 with scales";
  const auto type = call.x.scalar_type();
  if (call.x.is_cpu()) {
    const bool takes = type == at::kFloat && call.x.numel() > 0 && at::hasMKLDNN() &&
                       FindOnednnLinear().has_value();
    return takes ? "" : "on a CPU it needs fp32 and a libtorch with oneDNN";
  }
  const bool takes = call.x.is_cuda() && (type == at::kBFloat16 || type == at::kHalf) &&
                     call.weight.size(0) % 8 == 0 && call.weight.size(1) % 8 == 0 &&
                     call.x.numel() > 0;
  return takes ? "" : "it needs 16-bit types on a GPU and sides that are multiples of 8";
}

// The profiles "fp8" and "int8" bring their own calls, and no other profile takes any of them. On a
// device products of int8 are those of kernels/.
HostedVariants LinearVariants(bool on_device) {
  constexpr std::string_view kOp = LinearCall::op;
  const DeviceRange e4m3 = on_device ? DeviceRange{.min_sm = 89} : DeviceRange{};
  HostedVariants variants = {
      MakeLibtorchVariant({.op = kOp, .variant = kAtenVariant},
                          {.run = kUntyped<RunLinear>, .why_not = kUntyped<WhyNotLinear>}),
      MakeLibtorchVariant(
          {.op = kOp, .variant = kE4m3RowsVariant, .range = e4m3},
          {.run = kUntyped<aten::RunE4m3Product>, .why_not = kUntyped<aten::WhyNotE4m3Product>})};
  if (!on_device) {
    variants.push_back(MakeLibtorchVariant(
        {.op = kOp, .variant = kInt8RowsVariant},
        {.run = kUntyped<aten::RunInt8Product>, .why_not = kUntyped<aten::WhyNotInt8Product>}));
  }
  return variants;
}

HostedVariants LinearGeluVariants() {
  constexpr std::string_view kOp = LinearGeluCall::op;
  return {MakeLibtorchVariant({.op = kOp, .variant = kEpilogueVariant},
                              {.run = kUntyped<RunEpilogue>, .why_not = kUntyped<WhyNoEpilogue>}),
          AtenVariant<RunLinearGelu>(kOp)};
}

}  // namespace

// Matrix products are the vendor's; the built-in ones are for comparison.
void AddLinearVariants(kernels::KernelCatalog& catalog) {
  using Place = kernels::KernelCatalog::Place;
  const CublasLtVariants cublaslt = MakeCublasLtVariants();
  catalog.AddFramework(cublaslt.timed, Place::kFirst);
  catalog.AddFramework(LinearVariants(catalog.capability().device >= 0), Place::kFirst);
  catalog.AddFramework(LinearGeluVariants(), Place::kFirst);
  catalog.AddFramework(cublaslt.tuned, Place::kFirst);
}

namespace {

void CallLinear(const Ops& ops, const LinearCall& call) {
  ops.Call(call.op, call.type, &call, [&](const Execution& run) {
    auto sizes = call.x.sizes().vec();
    sizes.back() = call.weight.size(0);
    call.out = at::empty(sizes, call.x.options().dtype(call.type));
    return kernels::Linear(ViewsOf<kernels::LinearOperands>(call), run);
  });
}

}  // namespace

at::Tensor Ops::Linear(const at::Tensor& x, const at::Tensor& weight,
                       const at::Tensor& bias) const {
  at::Tensor out;
  CallLinear(*this, {{.x = x, .weight = weight, .bias = &bias, .out = out}, x.scalar_type()});
  return out;
}

at::Tensor Ops::Linear(const Rows& x, const CodedWeight& weight, const at::Tensor& bias,
                       at::ScalarType type) const {
  // On a device products of int8 are of 16 bits.
  const bool narrow =
      x.values.is_cuda() && x.values.scalar_type() == at::kChar && type == at::kFloat;
  at::Tensor out;
  CallLinear(*this, {{.x = x.values,
                      .weight = weight.codes,
                      .bias = &bias,
                      .out = out,
                      .x_scale = &x.scale,
                      .weight_scale = &weight.scale},
                     narrow ? at::kBFloat16 : type});
  return out.to(type);
}

at::Tensor Ops::LinearGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                           const aten::LinearGeluScales* scales, int64_t room) const {
  at::Tensor out;
  const LinearGeluCall call = {x, weight, bias, out, scales, room};
  const auto type = scales == nullptr ? x.scalar_type() : at::kBFloat16;
  Call(call.op, type, &call, [](const Execution&) {
    return absl::FailedPreconditionError(
        "The plan was made without the variants of libtorch, and linear_gelu has no others");
  });
  return out;
}

}  // namespace reel::model
