// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/attention_variants.h"

#include <optional>

#include "model/bridge/framework_variants.h"

namespace reel::model::aten {
namespace {

// As libtorch counts them.
constexpr int64_t kMath = 0, kFlash = 1, kMemEfficient = 2, kCudnn = 3;
// mem_efficient reads a bias in runs of this many elements.
constexpr int64_t kBiasRun = 16;

std::optional<double> ScaleOf(const AttentionCall& call) {
  return call.scale == 0 ? std::nullopt : std::optional(call.scale);
}
std::optional<at::Tensor> BiasOf(const AttentionCall& call) {
  return call.bias.defined() ? std::optional(call.bias) : std::nullopt;
}
int64_t Chosen(const AttentionCall& call) {
  return at::_fused_sdp_choice(call.q, call.k, call.v, BiasOf(call), 0.0, false, ScaleOf(call));
}

bool SixteenBits(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
}
bool Dense(const AttentionCall& call) {
  return call.q.stride(-1) == 1 && call.k.stride(-1) == 1 && call.v.stride(-1) == 1 &&
         call.q.numel() > 0 && call.k.numel() > 0;
}

// Every row of its own memory's run, as the kernel wants it, and one bias for each score.
std::optional<at::Tensor> PaddedBias(const AttentionCall& call) {
  if (!call.bias.defined()) return std::nullopt;
  const int64_t keys = call.bias.size(-1);
  at::Tensor bias = call.bias;
  if (keys % kBiasRun != 0 || bias.stride(-1) != 1) {
    auto sizes = bias.sizes().vec();
    sizes.back() = (keys + kBiasRun - 1) / kBiasRun * kBiasRun;
    const at::Tensor padded = at::zeros(sizes, bias.options());
    padded.slice(-1, 0, keys).copy_(bias);
    bias = padded.slice(-1, 0, keys);
  }
  return bias.expand({call.q.size(0), call.q.size(1), call.q.size(2), keys});
}

std::string WhyNotOnDevice(std::string_view variant, const AttentionCall& call) {
  const int64_t width = call.q.size(-1);
  if (variant == kMathVariant) return "";
  if (!Dense(call)) return "it needs channels that lie side by side, and at least one key";
  if (variant == kMemEfficientVariant) {
    const int64_t run = SixteenBits(call.q) ? 8 : 4;
    return width % run == 0 ? "" : "it needs heads of whole runs of 16 bytes";
  }
  if (!SixteenBits(call.q)) return "it computes in fp16 and bf16";
  const int64_t widest = variant == kFlashVariant ? 256 : 128;
  if (width % 8 != 0 || width > widest) {
    return "it needs heads of a multiple of 8, up to " + std::to_string(widest);
  }
  return variant == kFlashVariant && call.bias.defined() ? "it takes no bias" : "";
}

}  // namespace

at::Tensor Attention(const AttentionCall& call) {
  return at::scaled_dot_product_attention(call.q, call.k, call.v, BiasOf(call), 0.0, false,
                                          ScaleOf(call));
}

std::string_view AttentionChoice(const AttentionCall& call) {
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

std::string WhyNotAttention(std::string_view variant, const AttentionCall& call) {
  if (call.q.is_cuda()) return WhyNotOnDevice(variant, call);
  if (variant == kMathVariant) return "";
  if (variant != kFlashVariant) return "it needs a CUDA device";
  return Chosen(call) == kFlash ? "" : "it does not take these sizes, strides or types";
}

at::Tensor AttentionBy(std::string_view variant, const AttentionCall& call) {
  const auto scale = ScaleOf(call);
  if (variant == kCudnnVariant) {
    return std::get<0>(at::_scaled_dot_product_cudnn_attention(call.q, call.k, call.v, BiasOf(call),
                                                               false, 0.0, false, false, scale));
  }
  if (variant == kMemEfficientVariant) {
    return std::get<0>(at::_scaled_dot_product_efficient_attention(
        call.q, call.k, call.v, PaddedBias(call), false, 0.0, false, scale));
  }
  if (variant == kFlashVariant && call.q.is_cuda()) {
    return std::get<0>(
        at::_scaled_dot_product_flash_attention(call.q, call.k, call.v, 0.0, false, false, scale));
  }
  if (variant == kFlashVariant) {
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(call.q, call.k, call.v, 0.0,
                                                                       false, BiasOf(call), scale));
  }
  return std::get<0>(at::_scaled_dot_product_attention_math(call.q, call.k, call.v, BiasOf(call),
                                                            0.0, false, std::nullopt, scale));
}

}  // namespace reel::model::aten
