// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/cublaslt_variant.h"

#include <memory>
#include <string>
#include <utility>

#include "model/bridge/framework_calls.h"
#include "model/bridge/matrix_products.h"
#include "model/bridge/rows.h"

namespace reel::model {
namespace {

// cublasLt of the process's device, opened at the first call. Confined to the executing thread.
class Opened {
 public:
  // Null where its library is not there.
  MatrixProducts* On(at::Device device) {
    if (!tried_) products_ = MakeMatrixProducts(device);
    tried_ = true;
    return products_.get();
  }

 private:
  std::unique_ptr<MatrixProducts> products_;
  bool tried_ = false;
};

MatrixProduct ProductOf(const aten::LinearCall& call, const at::Tensor& none) {
  const bool scaled = call.scales != nullptr;
  return {.x = call.x,
          .weight = call.weight,
          .bias = call.bias,
          .x_scale = scaled ? call.scales->rows : none,
          .weight_scale = scaled ? call.scales->outputs : none,
          .residual = none};
}

MatrixProduct ProductOf(const aten::LinearGeluCall& call, const at::Tensor& none) {
  return {.x = call.x,
          .weight = call.weight,
          .bias = call.bias,
          .x_scale = none,
          .weight_scale = none,
          .residual = none,
          .gelu = true};
}

bool GivesWhatIsAsked(const aten::LinearCall& call) {
  return call.scales == nullptr || call.scales->type == at::kBFloat16;
}
bool GivesWhatIsAsked(const aten::LinearGeluCall&) { return true; }

std::string WhyNot(const MatrixProduct& product) {
  const auto type = product.x.scalar_type();
  if (type != at::kBFloat16 && type != at::kHalf && type != at::kFloat8_e4m3fn) {
    return "it needs 16-bit or 8-bit types";
  }
  const bool contiguous = product.x.is_contiguous() && product.weight.is_contiguous();
  const bool sides =
      product.weight.size(0) % kE4m3Sides == 0 && product.weight.size(1) % kE4m3Sides == 0;
  if (!contiguous || !sides) return "it needs contiguous rows and sides that are multiples of 16";
  const bool bias = !product.bias.defined() || product.bias.scalar_type() == product.result();
  return bias ? "" : "it needs a bias of the result's type";
}

template <typename Call>
class CublasLtVariant final : public kernels::HostedVariant {
 public:
  explicit CublasLtVariant(std::shared_ptr<Opened> opened)
      : facts_{.op = std::string(Call::op),
               .variant = std::string(kCublasLtVariant),
               .origin = "framework",
               .min_sm = 80,
               .max_sm = kernels::kAnyLaterSm,
               .dtypes = kernels::kAnyFloating,
               .params_size = 0},
        opened_(std::move(opened)) {}

  const kernels::HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* call) const override { return Reason(call).empty(); }
  std::string Reason(const void* of) const override {
    const Call& call = *static_cast<const Call*>(of);
    if (!call.x.is_cuda()) return "it needs a GPU";
    if (!GivesWhatIsAsked(call)) return "its products of e4m3 are bf16";
    if (opened_->On(call.x.device()) == nullptr) {
      return "libreel_torch_cuda.so is not beside the library of kernels";
    }
    const MatrixProduct product = ProductOf(call, none_);
    if (std::string reason = WhyNot(product); !reason.empty()) return reason;
    const bool takes = opened_->On(call.x.device())->Takes(product);
    return takes ? "" : "cublasLt has no algorithm for this size";
  }
  bool Prefers(const void*) const override { return false; }
  absl::Status Launch(const void* of, kernels::DeviceStream) const override {
    const Call& call = *static_cast<const Call*>(of);
    call.out = opened_->On(call.x.device())->Run(ProductOf(call, none_));
    return absl::OkStatus();
  }

 private:
  const kernels::HostedVariantFacts facts_;
  const std::shared_ptr<Opened> opened_;
  const at::Tensor none_;
};

}  // namespace

kernels::HostedVariants CublasLtVariants() {
  const auto opened = std::make_shared<Opened>();
  return {std::make_shared<CublasLtVariant<aten::LinearCall>>(opened),
          std::make_shared<CublasLtVariant<aten::LinearGeluCall>>(opened)};
}

}  // namespace reel::model
