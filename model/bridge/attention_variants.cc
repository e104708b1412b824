// SPDX-License-Identifier: Apache-2.0
// libtorch's kernels for scaled dot product attention by name (framework_variants.h), each called
// for itself: no switch of the process decides among them.
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "model/bridge/attention_calls.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/or_none.h"

namespace reel::model {
namespace {

using aten::AttentionCall;
using kernels::HostedVariants;

// As libtorch counts them.
constexpr int64_t kMath = 0, kFlash = 1, kMemEfficient = 2, kCudnn = 3;
// mem_efficient reads a bias in runs of this many elements.
constexpr int64_t kBiasRun = 16;

// Note: [Keys behind the last tile]
// cuDNN's kernel for sm_90 takes tiles of 128 keys, and is an eighth slower in all of them if the
// last one is partial. 13,376 keys of 64 channels take 7.17 ms, 13,440 take 6.40 and 13,312 6.36
// (batch 2, 32 heads, one H100, cuDNN 9.19). So it gets the whole tiles and returns the sum of its
// softmax; attention_rest, bound by memory, adds the other keys.
constexpr int64_t kCudnnTile = 128;
// From where an eighth is more than a second pass over queries and outputs takes.
constexpr int64_t kKeysForTiles = 4096;

std::optional<double> ScaleOf(const AttentionCall& call) {
  return call.scale == 0 ? std::nullopt : std::optional(call.scale);
}
int64_t Chosen(const AttentionCall& call) {
  const auto& [q, k, v] = call.heads;
  return at::_fused_sdp_choice(q, k, v, OrNone(call.bias), 0.0, false, ScaleOf(call));
}

bool SixteenBits(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
}
bool Dense(const AttentionCall& call) {
  return call.q.stride(-1) == 1 && call.k.stride(-1) == 1 && call.v.stride(-1) == 1 &&
         call.q.numel() > 0 && call.k.numel() > 0;
}

bool HasBias(const AttentionCall& call) { return call.bias->defined(); }

// Every row of its own memory's run, as the kernel wants it, and one bias for each score.
std::optional<at::Tensor> PaddedBias(const AttentionCall& call) {
  if (!HasBias(call)) return std::nullopt;
  at::Tensor bias = *call.bias;
  const int64_t keys = bias.size(-1);
  if (keys % kBiasRun != 0 || bias.stride(-1) != 1) {
    auto sizes = bias.sizes().vec();
    sizes.back() = (keys + kBiasRun - 1) / kBiasRun * kBiasRun;
    const at::Tensor padded = at::zeros(sizes, bias.options());
    padded.slice(-1, 0, keys).copy_(bias);
    bias = padded.slice(-1, 0, keys);
  }
  return bias.expand({call.q.size(0), call.q.size(2), call.q.size(1), keys});
}

std::string_view WhyNotInTiles(const AttentionCall& call) {
  if (call.met == nullptr || HasBias(call)) return "it takes no bias";
  if (const int64_t width = call.q.size(-1); width != 64 && width != 128) {
    return "it needs heads of 64 or 128";
  }
  const int64_t keys = call.k.size(1);
  return keys > kCudnnTile && keys % kCudnnTile != 0
             ? ""
             : "it is for keys that do not fill whole tiles of 128";
}

std::string_view WhyNotOnDevice(std::string_view variant, const AttentionCall& call) {
  const int64_t width = call.q.size(-1);
  if (variant == kMathVariant) return "";
  if (variant == kCudnnTilesVariant) {
    if (std::string_view reason = WhyNotInTiles(call); !reason.empty()) return reason;
  }
  if (!Dense(call)) return "it needs channels that lie side by side, and at least one key";
  if (variant == kMemEfficientVariant) {
    const int64_t run = SixteenBits(call.q) ? 8 : 4;
    return width % run == 0 ? "" : "it needs heads of whole runs of 16 bytes";
  }
  if (!SixteenBits(call.q)) return "it computes in fp16 and bf16";
  if (variant == kFlashVariant) {
    if (width % 8 != 0 || width > 256) return "it needs heads of a multiple of 8, up to 256";
    return HasBias(call) ? "it takes no bias" : "";
  }
  return width % 8 == 0 && width <= 128 ? "" : "it needs heads of a multiple of 8, up to 128";
}

// The name of what libtorch would choose; "aten" when it will not say.
std::string_view Choice(const AttentionCall& call) {
  switch (Chosen(call)) {
    case kMath:
      return kMathVariant;
    case kFlash:
      return kFlashVariant;
    case kMemEfficient:
      return kMemEfficientVariant;
    case kCudnn:
      return kCudnnVariant;
    default:
      return kAtenVariant;
  }
}

// Of a call that cudnn_tiles can take.
bool IsFasterInTiles(const AttentionCall& call) {
  return call.k.size(1) >= kKeysForTiles && Chosen(call) == kCudnn;
}

// Empty when the variant can take the call.
std::string_view WhyNot(std::string_view variant, const AttentionCall& call) {
  if (call.q.is_cuda()) return WhyNotOnDevice(variant, call);
  if (variant == kMathVariant) return "";
  if (variant != kFlashVariant) return "it needs a CUDA device";
  return Chosen(call) == kFlash ? "" : "it does not take these sizes, strides or types";
}

// What libtorch gives, as the operator gives it.
at::Tensor TokensFirst(const at::Tensor& heads) { return heads.transpose(1, 2); }

// By a variant that can.
at::Tensor HeadsBy(std::string_view variant, const AttentionCall& call) {
  const auto& [q, k, v] = call.heads;
  const auto scale = ScaleOf(call);
  if (variant == kCudnnTilesVariant) {
    const int64_t whole = k.size(-2) / kCudnnTile * kCudnnTile;
    const auto found = at::_scaled_dot_product_cudnn_attention(
        q, k.slice(-2, 0, whole), v.slice(-2, 0, whole), {}, true, 0.0, false, false, scale);
    const at::Tensor log_sums = std::get<1>(found).view({q.size(0), q.size(1), q.size(2)});
    *call.met = {whole, TokensFirst(log_sums)};
    return std::get<0>(found);
  }
  if (variant == kCudnnVariant) {
    return std::get<0>(at::_scaled_dot_product_cudnn_attention(q, k, v, OrNone(call.bias), false,
                                                               0.0, false, false, scale));
  }
  if (variant == kMemEfficientVariant) {
    return std::get<0>(at::_scaled_dot_product_efficient_attention(q, k, v, PaddedBias(call), false,
                                                                   0.0, false, scale));
  }
  if (variant == kFlashVariant && q.is_cuda()) {
    return std::get<0>(at::_scaled_dot_product_flash_attention(q, k, v, 0.0, false, false, scale));
  }
  if (variant == kFlashVariant) {
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, false,
                                                                       OrNone(call.bias), scale));
  }
  return std::get<0>(at::_scaled_dot_product_attention_math(q, k, v, OrNone(call.bias), 0.0, false,
                                                            std::nullopt, scale));
}

void Run(std::string_view variant, const AttentionCall& call) {
  call.out = TokensFirst(HeadsBy(variant, call));
}

// libtorch chooses among its kernels.
void RunChosen(const AttentionCall& call) {
  const auto& [q, k, v] = call.heads;
  call.out = TokensFirst(
      at::scaled_dot_product_attention(q, k, v, OrNone(call.bias), 0.0, false, ScaleOf(call)));
}

void RunRest(const kernels::AttentionRestOperands<Tensors>& call) {
  const double width = static_cast<double>(call.q.size(-1));
  const double scale = call.scale == 0 ? 1 / std::sqrt(width) : call.scale;
  const int64_t keys = call.k.size(1);
  const auto heads = [](const at::Tensor& t) { return t.transpose(1, 2); };
  const at::Tensor q = heads(call.q).to(at::kFloat) * scale;
  const at::Tensor scores = q.matmul(heads(call.k).to(at::kFloat).transpose(-2, -1));
  const at::Tensor weights = at::cat({scores, heads(call.log_sums).unsqueeze(-1)}, -1).softmax(-1);
  const at::Tensor sums = weights.slice(-1, 0, keys).matmul(heads(call.v).to(at::kFloat));
  const at::Tensor out = sums + weights.slice(-1, keys) * heads(call.before);
  call.out = TokensFirst(out.to(call.q.scalar_type()));
}

// "auto" follows libtorch. On a device libtorch's order of preference is finer than what its
// kernels can take. On a CPU flash says itself which calls it is chosen for.
template <const std::string_view& kName>
constexpr CallFunctions kNamed = {
    .run = [](const void* call) { Run(kName, *static_cast<const AttentionCall*>(call)); },
    .why_not =
        [](const void* call) { return WhyNot(kName, *static_cast<const AttentionCall*>(call)); },
    .prefers =
        [](const void* call) {
          const auto& attention = *static_cast<const AttentionCall*>(call);
          return !attention.q.is_cuda() || Choice(attention) == kName;
        }};

std::shared_ptr<const kernels::HostedVariant> CudnnTiles() {
  CallFunctions functions = kNamed<kCudnnTilesVariant>;
  functions.prefers = kUntyped<IsFasterInTiles>;
  return MakeLibtorchVariant({.op = "attention",
                              .variant = kCudnnTilesVariant,
                              .range = {.min_sm = 90, .max_sm = 90},
                              .for_some_sizes = true},
                             functions);
}

// Best first, as libtorch sees it: cuDNN where it is tuned for the device, else flash.
HostedVariants VariantsOf(std::string_view op, const kernels::DeviceCapability& device) {
  const auto named = [op](std::string_view variant, DeviceRange range,
                          const CallFunctions& functions) {
    return MakeLibtorchVariant({.op = op, .variant = variant, .range = range}, functions);
  };
  const DeviceRange sixteen_bits = {.min_sm = 80};
  const DeviceRange flash = device.device < 0 ? DeviceRange{} : sixteen_bits;
  const bool cudnn_first = device.device < 0 || device.sm == 90 || device.sm == 100;
  HostedVariants variants = {
      named(kFlashVariant, flash, kNamed<kFlashVariant>),
      named(kMemEfficientVariant, {.min_sm = 50}, kNamed<kMemEfficientVariant>)};
  const auto cudnn = named(kCudnnVariant, sixteen_bits, kNamed<kCudnnVariant>);
  variants.insert(cudnn_first ? variants.begin() : variants.end(), cudnn);
  if (op == "attention" && device.sm == 90) variants.insert(variants.begin(), CudnnTiles());
  variants.push_back(named(kMathVariant, {}, kNamed<kMathVariant>));
  variants.push_back(AtenVariant<RunChosen>(op));
  return variants;
}

}  // namespace

// The built-in variant of attention that takes every call is far behind libtorch's; that of
// cross_attention for tensor cores is ahead of cuDNN's.
void AddAttentionVariants(kernels::KernelCatalog& catalog) {
  using Place = kernels::KernelCatalog::Place;
  const kernels::DeviceCapability& device = catalog.capability();
  catalog.AddFramework({AtenVariant<RunRest>("attention_rest")}, BeforeLoops(catalog));
  catalog.AddFramework(VariantsOf("attention", device), Place::kFirst);
  catalog.AddFramework(VariantsOf("cross_attention", device),
                       device.device >= 0 ? Place::kBelowTuned : Place::kFirst);
}

}  // namespace reel::model
