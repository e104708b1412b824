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

// Note: [Keys behind the last tile]
// cuDNN's kernel for sm_90 takes 128 keys at a time, and one whose last tile is not whole is an
// eighth slower in all of them: 13,376 keys of 64 channels take 7.17 ms, 13,440 take 6.40 and
// 13,312 6.36 (batch 2, 32 heads, one H100, cuDNN 9.19). So it meets the whole tiles, and says what
// its softmax divided by; attention_rest, bound by memory, adds the others.
constexpr int64_t kCudnnTile = 128;
// From where an eighth is more than a second pass over queries and outputs takes.
constexpr int64_t kManyKeys = 4096;

std::optional<double> ScaleOf(const AttentionCall& call) {
  return call.scale == 0 ? std::nullopt : std::optional(call.scale);
}
std::optional<at::Tensor> BiasOf(const AttentionCall& call) {
  return call.bias.defined() ? std::optional(call.bias) : std::nullopt;
}
int64_t Chosen(const AttentionCall& call) {
  return at::_fused_sdp_choice(call.x, call.k, call.v, BiasOf(call), 0.0, false, ScaleOf(call));
}

bool SixteenBits(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
}
bool Dense(const AttentionCall& call) {
  return call.x.stride(-1) == 1 && call.k.stride(-1) == 1 && call.v.stride(-1) == 1 &&
         call.x.numel() > 0 && call.k.numel() > 0;
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
  return bias.expand({call.x.size(0), call.x.size(1), call.x.size(2), keys});
}

std::string_view WhyNotInTiles(const AttentionCall& call) {
  if (call.met == nullptr || call.bias.defined()) return "it takes no bias";
  if (const int64_t width = call.x.size(-1); width != 64 && width != 128) {
    return "it needs heads of 64 or 128";
  }
  const int64_t keys = call.k.size(-2);
  return keys > kCudnnTile && keys % kCudnnTile != 0
             ? ""
             : "it is for keys that do not fill whole tiles of 128";
}

std::string_view WhyNotOnDevice(std::string_view variant, const AttentionCall& call) {
  const int64_t width = call.x.size(-1);
  if (variant == kMathVariant) return "";
  if (variant == kCudnnTilesVariant) {
    if (std::string_view reason = WhyNotInTiles(call); !reason.empty()) return reason;
  }
  if (!Dense(call)) return "it needs channels that lie side by side, and at least one key";
  if (variant == kMemEfficientVariant) {
    const int64_t run = SixteenBits(call.x) ? 8 : 4;
    return width % run == 0 ? "" : "it needs heads of whole runs of 16 bytes";
  }
  if (!SixteenBits(call.x)) return "it computes in fp16 and bf16";
  if (variant == kFlashVariant) {
    if (width % 8 != 0 || width > 256) return "it needs heads of a multiple of 8, up to 256";
    return call.bias.defined() ? "it takes no bias" : "";
  }
  return width % 8 == 0 && width <= 128 ? "" : "it needs heads of a multiple of 8, up to 128";
}

}  // namespace

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

bool IsFasterInTiles(const AttentionCall& call) {
  return call.k.size(-2) >= kManyKeys && Chosen(call) == kCudnn;
}

std::string_view WhyNotAttention(std::string_view variant, const AttentionCall& call) {
  if (call.x.is_cuda()) return WhyNotOnDevice(variant, call);
  if (variant == kMathVariant) return "";
  if (variant != kFlashVariant) return "it needs a CUDA device";
  return Chosen(call) == kFlash ? "" : "it does not take these sizes, strides or types";
}

void RunAttention(std::string_view variant, const AttentionCall& call) {
  const auto& [op, q, k, v, bias, scale_or_0, out, met] = call;
  const auto scale = ScaleOf(call);
  if (variant == kCudnnTilesVariant) {
    const int64_t whole = k.size(-2) / kCudnnTile * kCudnnTile;
    const auto found = at::_scaled_dot_product_cudnn_attention(
        q, k.slice(-2, 0, whole), v.slice(-2, 0, whole), {}, true, 0.0, false, false, scale);
    out = std::get<0>(found);
    *met = {whole, std::get<1>(found).view({q.size(0), q.size(1), q.size(2)})};
  } else if (variant == kCudnnVariant) {
    out = std::get<0>(at::_scaled_dot_product_cudnn_attention(q, k, v, BiasOf(call), false, 0.0,
                                                              false, false, scale));
  } else if (variant == kMemEfficientVariant) {
    out = std::get<0>(at::_scaled_dot_product_efficient_attention(q, k, v, PaddedBias(call), false,
                                                                  0.0, false, scale));
  } else if (variant == kFlashVariant && q.is_cuda()) {
    out = std::get<0>(at::_scaled_dot_product_flash_attention(q, k, v, 0.0, false, false, scale));
  } else if (variant == kFlashVariant) {
    out = std::get<0>(
        at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, false, BiasOf(call), scale));
  } else {
    out = std::get<0>(at::_scaled_dot_product_attention_math(q, k, v, BiasOf(call), 0.0, false,
                                                             std::nullopt, scale));
  }
}

}  // namespace reel::model::aten
