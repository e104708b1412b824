// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/cublaslt_variant.h"

#include <memory>
#include <string>
#include <utility>

#include "model/bridge/by_device.h"
#include "model/bridge/linear_calls.h"
#include "model/bridge/matrix_products.h"
#include "model/bridge/rows.h"

namespace reel::model {
namespace {

MatrixProduct ProductOf(const aten::LinearCall& call, const at::Tensor& none, bool tuned) {
  return {.x = call.x,
          .weight = call.weight,
          .bias = *call.bias,
          .x_scale = call.has_codes() ? *call.x_scale : none,
          .weight_scale = call.has_codes() ? *call.weight_scale : none,
          .residual = none,
          .tuned = tuned};
}

MatrixProduct ProductOf(const aten::LinearGeluCall& call, const at::Tensor& none, bool tuned) {
  const aten::LinearGeluScales* const scales = call.scales;
  return {.x = call.x,
          .weight = call.weight,
          .bias = call.bias,
          .x_scale = scales != nullptr ? scales->x : none,
          .weight_scale = scales != nullptr ? scales->weight : none,
          .residual = none,
          .gelu = true,
          .tuned = tuned,
          .room = call.room,
          .to_out = scales != nullptr ? &scales->to_out : nullptr};
}

// Which calls a variant is for, and how it comes to its algorithm.
struct Kind {
  std::string_view variant;
  int32_t min_sm = 80;
  bool tuned = false;
  bool plain = true, e4m3 = false;
};
constexpr Kind kTimed = {.variant = kCublasLtVariant, .e4m3 = true};
constexpr Kind kTuned = {.variant = kTunedVariant, .min_sm = 90, .tuned = true};
constexpr Kind kTunedE4m3 = {
    .variant = kTunedE4m3Variant, .min_sm = 90, .tuned = true, .plain = false, .e4m3 = true};
constexpr Kind kE4m3Gelu = {
    .variant = kE4m3GeluVariant, .min_sm = 89, .tuned = true, .plain = false, .e4m3 = true};

std::string_view WhyNot(const Kind& kind, const aten::LinearCall& call) {
  if (!call.has_codes()) return kind.plain ? "" : "it takes e4m3 operands";
  if (!kind.e4m3) return "it takes no e4m3 operands";
  if (call.x.scalar_type() != at::kFloat8_e4m3fn) return "it takes no int8 operands";
  return call.type == at::kBFloat16 ? "" : "its products of e4m3 are bf16";
}
std::string_view WhyNot(const Kind& kind, const aten::LinearGeluCall& call) {
  if (call.scales == nullptr) return kind.plain ? "" : "it takes e4m3 operands";
  return kind.plain ? "it takes no e4m3 operands" : "";
}

std::string_view WhyNot(const MatrixProduct& product) {
  const auto type = product.x.scalar_type();
  if (type != at::kBFloat16 && type != at::kHalf && type != at::kFloat8_e4m3fn) {
    return "it needs 16-bit or 8-bit types";
  }
  const at::Tensor &x = product.x, &weight = product.weight;
  const bool even = HasEvenRows(x) && weight.stride(1) == 1 && StepOf(x) % kE4m3Sides == 0 &&
                    weight.stride(0) % kE4m3Sides == 0;
  const bool sides = weight.size(0) % kE4m3Sides == 0 && weight.size(1) % kE4m3Sides == 0;
  if (!even || !sides) return "it needs even rows and sides that are multiples of 16";
  const bool bias = !product.bias.defined() || product.bias.scalar_type() == product.bias_type();
  return bias ? "" : "it needs a bias of 16 bits";
}

template <typename Call>
class CublasLtVariant final : public kernels::HostedVariant {
 public:
  CublasLtVariant(const Kind& kind, std::shared_ptr<ByDevice<MatrixProducts>> opened)
      : kind_(kind),
        facts_{.op = std::string(Call::op),
               .variant = std::string(kind.variant),
               .origin = "framework",
               .min_sm = kind.min_sm,
               .max_sm = kind.min_sm == 90 ? 90 : kernels::kAnyLaterSm,
               .dtypes = kernels::kAnyFloating,
               .params_size = 0,
               .for_some_sizes = kind.tuned},
        opened_(std::move(opened)) {}

  const kernels::HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* call) const override { return WhyNotOf(call).empty(); }
  std::string Reason(const void* call) const override { return std::string(WhyNotOf(call)); }
  bool Prefers(const void*) const override { return kind_.tuned; }
  absl::Status Launch(const void* of, kernels::DeviceStream) const override {
    const Call& call = *static_cast<const Call*>(of);
    call.out = opened_->On(call.x.device())->Run(ProductOf(call, none_, kind_.tuned));
    return absl::OkStatus();
  }

 private:
  std::string_view WhyNotOf(const void* of) const {
    const Call& call = *static_cast<const Call*>(of);
    if (!call.x.is_cuda()) return "it needs a GPU";
    if (std::string_view reason = WhyNot(kind_, call); !reason.empty()) return reason;
    if (opened_->On(call.x.device()) == nullptr) {
      return "libreel_torch_cuda.so is not beside the library of kernels";
    }
    const MatrixProduct product = ProductOf(call, none_, kind_.tuned);
    if (std::string_view reason = WhyNot(product); !reason.empty()) return reason;
    if (opened_->On(call.x.device())->Takes(product)) return "";
    return kind_.tuned ? "no other algorithm than the library's own is known for this size"
                       : "cublasLt has no algorithm for this size";
  }

  const Kind& kind_;
  const kernels::HostedVariantFacts facts_;
  const std::shared_ptr<ByDevice<MatrixProducts>> opened_;
  const at::Tensor none_;
};

}  // namespace

CublasLtVariants MakeCublasLtVariants() {
  using Linear = CublasLtVariant<aten::LinearCall>;
  using LinearGelu = CublasLtVariant<aten::LinearGeluCall>;
  const auto opened = std::make_shared<ByDevice<MatrixProducts>>(MakeMatrixProducts);
  return {.timed = {std::make_shared<Linear>(kTimed, opened),
                    std::make_shared<LinearGelu>(kTimed, opened)},
          .tuned = {std::make_shared<Linear>(kTunedE4m3, opened),
                    std::make_shared<Linear>(kTuned, opened),
                    std::make_shared<LinearGelu>(kE4m3Gelu, opened),
                    std::make_shared<LinearGelu>(kTuned, opened)}};
}

}  // namespace reel::model
