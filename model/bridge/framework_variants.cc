// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/framework_variants.h"

#include <memory>
#include <string>
#include <utility>

#include "model/bridge/attention_variants.h"
#include "model/bridge/conv_by_taps.h"
#include "model/bridge/cublaslt_variant.h"
#include "model/bridge/e4m3_product.h"
#include "model/bridge/framework_calls.h"
#include "model/bridge/qk_norm_rope_rows.h"
#include "model/bridge/tuned_convolutions.h"

namespace reel::model {
namespace {

using kernels::HostedVariants;
using Place = kernels::KernelCatalog::Place;

constexpr kernels::DtypeMask kAnyType = ~kernels::DtypeMask{0};

// What a variant does with the calls of one operator.
struct Functions {
  void (*run)(const void* call);
  std::string_view (*why_not)(const void* call) = nullptr;  // null: takes every call
  bool (*prefers)(const void* call) = nullptr;              // null: every one that it takes
};

class LibtorchVariant final : public kernels::HostedVariant {
 public:
  LibtorchVariant(kernels::HostedVariantFacts facts, Functions functions)
      : facts_(std::move(facts)), functions_(functions) {}

  const kernels::HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* call) const override {
    return functions_.why_not == nullptr || functions_.why_not(call).empty();
  }
  std::string Reason(const void* call) const override {
    return std::string(functions_.why_not(call));
  }
  bool Prefers(const void* call) const override {
    return functions_.prefers == nullptr || functions_.prefers(call);
  }
  absl::Status Launch(const void* call, kernels::DeviceStream) const override {
    functions_.run(call);
    return absl::OkStatus();
  }

 private:
  const kernels::HostedVariantFacts facts_;
  const Functions functions_;
};

// The capabilities that a variant runs on; a CPU counts as 0.
struct Range {
  int32_t min_sm = kernels::kCpuOnly;
  int32_t max_sm = kernels::kAnyLaterSm;
};
constexpr Range kDevices = {.min_sm = 50};

std::shared_ptr<const kernels::HostedVariant> Make(std::string_view op, std::string_view name,
                                                   Range range, Functions functions,
                                                   bool for_some_sizes = false) {
  kernels::HostedVariantFacts facts = {.op = std::string(op),
                                       .variant = std::string(name),
                                       .origin = "framework",
                                       .min_sm = range.min_sm,
                                       .max_sm = range.max_sm,
                                       .dtypes = kAnyType,
                                       .params_size = 0,
                                       .for_some_sizes = for_some_sizes};
  return std::make_shared<LibtorchVariant>(std::move(facts), functions);
}

template <typename Call>
std::shared_ptr<const kernels::HostedVariant> Aten(std::string_view op) {
  return Make(op, kAtenVariant, {},
              {.run = [](const void* call) { aten::Run(*static_cast<const Call*>(call)); }});
}

// "auto" follows libtorch: on a device its order of preference is finer than what its kernels can
// take, and on a CPU flash says by itself what it was chosen for.
template <const std::string_view& kName>
constexpr Functions kAttention = {
    .run =
        [](const void* call) {
          aten::RunAttention(kName, *static_cast<const aten::AttentionCall*>(call));
        },
    .why_not =
        [](const void* call) {
          return aten::WhyNotAttention(kName, *static_cast<const aten::AttentionCall*>(call));
        },
    .prefers =
        [](const void* call) {
          const auto& attention = *static_cast<const aten::AttentionCall*>(call);
          return !attention.x.is_cuda() || aten::AttentionChoice(attention) == kName;
        }};

std::shared_ptr<const kernels::HostedVariant> CudnnTiles() {
  Functions functions = kAttention<kCudnnTilesVariant>;
  functions.prefers = [](const void* call) {
    return aten::IsFasterInTiles(*static_cast<const aten::AttentionCall*>(call));
  };
  return Make("attention", kCudnnTilesVariant, {.min_sm = 90, .max_sm = 90}, functions, true);
}

// Best first, as libtorch sees it: cuDNN where it is tuned for the device, else flash.
HostedVariants AttentionVariants(std::string_view op, const kernels::DeviceCapability& device) {
  const Range sixteen_bits = {.min_sm = 80};
  const Range flash = device.device < 0 ? Range{} : sixteen_bits;
  const bool cudnn_first = device.device < 0 || device.sm == 90 || device.sm == 100;
  HostedVariants variants = {
      Make(op, kFlashVariant, flash, kAttention<kFlashVariant>),
      Make(op, kMemEfficientVariant, kDevices, kAttention<kMemEfficientVariant>)};
  const auto cudnn = Make(op, kCudnnVariant, sixteen_bits, kAttention<kCudnnVariant>);
  variants.insert(cudnn_first ? variants.begin() : variants.end(), cudnn);
  if (op == "attention" && device.sm == 90) variants.insert(variants.begin(), CudnnTiles());
  variants.push_back(Make(op, kMathVariant, {}, kAttention<kMathVariant>));
  variants.push_back(Aten<aten::AttentionCall>(op));
  return variants;
}

// The profiles "fp8" and "int8" bring their own calls, and no other profile takes any of them. On a
// device products of int8 are those of kernels/.
HostedVariants LinearVariants(const kernels::DeviceCapability& device) {
  using Call = aten::LinearCall;
  const Functions plain = {
      .run = [](const void* call) { aten::Run(*static_cast<const Call*>(call)); },
      .why_not =
          [](const void* call) { return aten::WhyNotLinear(*static_cast<const Call*>(call)); }};
  const Functions e4m3 = {
      .run = [](const void* call) { aten::RunE4m3Product(*static_cast<const Call*>(call)); },
      .why_not =
          [](const void* call) {
            return aten::WhyNotE4m3Product(*static_cast<const Call*>(call));
          }};
  const Range range = device.device < 0 ? Range{} : Range{.min_sm = 89};
  HostedVariants variants = {Make(Call::op, kAtenVariant, {}, plain),
                             Make(Call::op, kE4m3RowsVariant, range, e4m3)};
  if (device.device < 0) {
    const Functions int8 = {
        .run = [](const void* call) { aten::RunInt8Product(*static_cast<const Call*>(call)); },
        .why_not =
            [](const void* call) {
              return aten::WhyNotInt8Product(*static_cast<const Call*>(call));
            }};
    variants.push_back(Make(Call::op, kInt8RowsVariant, {}, int8));
  }
  return variants;
}

HostedVariants StepCacheVariants() {
  using Call = aten::StepCacheCall;
  return {Make(Call::op, kFirstBlockVariant, {},
               {.run = [](const void* call) { aten::Run(*static_cast<const Call*>(call)); }})};
}

std::shared_ptr<const kernels::HostedVariant> QkNormRopeByRows() {
  using Call = aten::QkNormRopeCall;
  return Make(
      Call::op, kRowsVariant, {},
      {.run = [](const void* call) { aten::RunByRows(*static_cast<const Call*>(call)); },
       .why_not =
           [](const void* call) { return aten::WhyNotByRows(*static_cast<const Call*>(call)); }});
}

std::shared_ptr<const kernels::HostedVariant> ConvolutionByTaps() {
  using Call = aten::Conv3dCall;
  const Functions taps = {
      .run = [](const void* call) { aten::RunByTaps(*static_cast<const Call*>(call)); },
      .why_not =
          [](const void* call) { return aten::WhyNotByTaps(*static_cast<const Call*>(call)); }};
  return Make(Call::op, kTapsVariant, {}, taps, /*for_some_sizes=*/true);
}

HostedVariants LinearGeluVariants() {
  using Call = aten::LinearGeluCall;
  const Functions epilogue = {
      .run = [](const void* call) { aten::RunEpilogue(*static_cast<const Call*>(call)); },
      .why_not =
          [](const void* call) { return aten::WhyNoEpilogue(*static_cast<const Call*>(call)); }};
  return {Make(Call::op, kEpilogueVariant, {}, epilogue), Aten<Call>(Call::op)};
}

}  // namespace

void AddFrameworkVariants(kernels::KernelCatalog& catalog) {
  const kernels::DeviceCapability& device = catalog.capability();
  const bool on_device = device.device >= 0;
  // Rows that `cpu` variants read once, by all threads of the process.
  for (const auto& variant :
       {Aten<aten::RmsNormCall>("rms_norm"), Aten<aten::NormCall>("layer_norm"),
        Aten<aten::NormCall>("adaln_rms_norm"), Aten<aten::NormCall>("adaln_layer_norm"),
        Aten<aten::NormCall>("gate_residual"), Aten<aten::NormCall>("gate_residual_adaln"),
        Aten<aten::GeluTanhCall>("activation"), Aten<aten::GatedGeluCall>("gated_activation")}) {
    catalog.AddFramework({variant}, on_device ? Place::kLast : Place::kBelowTuned);
  }
  // Of these a CPU has `loops` alone.
  for (const auto& variant :
       {Aten<aten::QkNormRopeCall>("qk_norm_rope"), Aten<aten::DepthToSpaceCall>("depth_to_space"),
        Aten<aten::AttentionRestCall>("attention_rest")}) {
    catalog.AddFramework({variant}, on_device ? Place::kLast : Place::kFirst);
  }
  // Here `cpu` takes every call.
  catalog.AddFramework({Aten<aten::ChannelNormSiluCall>("channel_norm_silu")}, Place::kLast);
  catalog.AddFramework({Aten<aten::FrameConvertCall>("frame_convert")}, Place::kLast);
  if (!on_device) catalog.AddFramework({QkNormRopeByRows()}, Place::kFirst);
  // The built-in variant of attention that takes every call is far behind libtorch's; that of
  // cross_attention for tensor cores is ahead of cuDNN's.
  const Place below_tuned = on_device ? Place::kBelowTuned : Place::kFirst;
  catalog.AddFramework(AttentionVariants("attention", device), Place::kFirst);
  catalog.AddFramework(AttentionVariants("cross_attention", device), below_tuned);
  // Matrix products and convolutions are the vendor's; the built-in ones are for comparison.
  const CublasLtVariants cublaslt = MakeCublasLtVariants();
  catalog.AddFramework(cublaslt.timed, Place::kFirst);
  catalog.AddFramework(LinearVariants(device), Place::kFirst);
  catalog.AddFramework({MakeTunedConvolution(), Aten<aten::Conv3dCall>("conv3d")}, Place::kFirst);
  if (!on_device) catalog.AddFramework({ConvolutionByTaps()}, Place::kFirst);
  catalog.AddFramework(LinearGeluVariants(), Place::kFirst);
  catalog.AddFramework(cublaslt.tuned, Place::kFirst);
  catalog.AddFramework(StepCacheVariants(), Place::kFirst);
}

}  // namespace reel::model
