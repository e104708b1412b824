// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/tuned_convolutions.h"

#include <string>
#include <string_view>

#include "model/bridge/by_device.h"
#include "model/bridge/cublaslt_variant.h"
#include "model/bridge/or_none.h"
#include "model/bridge/torch_cuda_library.h"
#include "model/torch_cuda/cudnn_convolutions.h"

namespace reel::model {
namespace {

std::unique_ptr<TunedConvolutions> OpenOn(at::Device device) {
  return MakeInTorchCuda<TunedConvolutions>(kTunedConvolutionsEntry, device);
}

std::string_view WhyNot(const aten::Conv3dCall& call) {
  if (!call.x.is_cuda()) return "it needs a GPU";
  if (call.x.scalar_type() != at::kBFloat16) return "it needs bf16";
  if (OrNone(call.bias).has_value()) return "it adds no bias";
  if (call.x.dim() != 5 || call.x.size(0) != 1) return "it takes one clip";
  const auto side_by_side = [](const at::Tensor& t) {
    return t.is_contiguous(at::MemoryFormat::ChannelsLast3d);
  };
  if (!side_by_side(call.x) || !side_by_side(call.weight)) {
    return "it needs channels that lie side by side";
  }
  const bool taps = call.weight.sizes().slice(2) == at::IntArrayRef({3, 3, 3});
  // A device of a group has its neighbours' rows instead of zeros, and other shapes: the library's
  // own choice was 2 to 4 % faster there.
  const bool padded = call.padding == aten::Sides{0, 1, 1};
  return taps && padded && call.stride == aten::Sides{1, 1, 1}
             ? ""
             : "it takes 3x3x3 taps, one apart, with a pixel of padding";
}

class TunedConvolution final : public kernels::HostedVariant {
 public:
  const kernels::HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* call) const override { return WhyNotOf(call).empty(); }
  std::string Reason(const void* call) const override { return std::string(WhyNotOf(call)); }
  absl::Status Launch(const void* of, kernels::DeviceStream) const override {
    const auto& call = *static_cast<const aten::Conv3dCall*>(of);
    call.out = opened_.On(call.x.device())->Run(call);
    return absl::OkStatus();
  }

 private:
  std::string_view WhyNotOf(const void* of) const {
    const auto& call = *static_cast<const aten::Conv3dCall*>(of);
    if (std::string_view reason = WhyNot(call); !reason.empty()) return reason;
    TunedConvolutions* const opened = opened_.On(call.x.device());
    if (opened == nullptr) return "libreel_torch_cuda.so is not beside the library of kernels";
    return opened->Takes(call) ? "" : "no other plan than the library's own is known for this size";
  }

  const kernels::HostedVariantFacts facts_ = {.op = std::string(aten::Conv3dCall::op),
                                              .variant = std::string(kTunedVariant),
                                              .origin = "framework",
                                              .min_sm = 90,
                                              .max_sm = 90,
                                              .dtypes = kernels::kAnyFloating,
                                              .params_size = 0,
                                              .for_some_sizes = true};
  mutable ByDevice<TunedConvolutions> opened_{OpenOn};
};

}  // namespace

std::shared_ptr<const kernels::HostedVariant> MakeTunedConvolution() {
  return std::make_shared<TunedConvolution>();
}

}  // namespace reel::model
