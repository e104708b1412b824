// SPDX-License-Identifier: Apache-2.0
#include "model/vae/vae_encoder.h"

#include <algorithm>
#include <string>
#include <utility>

namespace reel::model {
namespace {

// A convolution whose result is folded, plus the folded input averaged over groups of channels.
at::Tensor Fold(const Ops& ops, const VideoConv& conv, const DownStage& layout,
                const at::Tensor& x) {
  const auto [t, s] = std::pair(layout.stride_t, layout.stride_s);
  const at::Tensor extended = at::cat({x.slice(2, 0, t - 1), x}, 2);
  const at::Tensor residual =
      SpaceToDepth(extended, t, s, s).unflatten(1, {layout.out, -1}).mean(2);
  return SpaceToDepth(conv.Causal(ops, extended), t, s, s) + residual;
}

}  // namespace

at::Tensor LatentMoments::Sample(const at::Tensor& noise) const {
  const at::Tensor deviation = at::exp(0.5 * log_variance.clamp(-30.0, 20.0));
  return mean + deviation * noise;
}

int64_t EncoderPixelNumbers(const VaeConfig& config) {
  // Tensors of a stage's width during a residual block or a fold, and the pixels in four layouts.
  constexpr int64_t kOfAStage = 8, kPixels = 4 * 3;
  int64_t most = config.encoder_in, folded = 1;  // for each patch
  for (const DownStage& stage : config.down) {
    most = std::max(most, stage.in / folded);
    if (stage.sampler == DownStage::Sampler::kStridedConv) folded *= 2 * 2 * 2;
    if (stage.sampler == DownStage::Sampler::kSpaceToDepth) {
      folded *= stage.stride_t * stage.stride_s * stage.stride_s;
    }
  }
  const int64_t of_a_patch = config.patch * config.patch;
  return (kOfAStage * most + of_a_patch - 1) / of_a_patch + kPixels;
}

VaeEncoder::Resnets VaeEncoder::TakeResnets(Weights& weights, const std::string& name,
                                            int64_t channels, int64_t count) {
  Resnets resnets(ring_);
  for (int64_t i = 0; i < count && weights.ok(); ++i) {
    resnets.Add(TakeVaeResnet(weights, name + ".resnets." + std::to_string(i),
                              {.in = channels, .out = channels, .eps = config_.norm_eps}),
                true);
  }
  layer_bytes_.all += resnets.bytes().all;
  layer_bytes_.largest = std::max(layer_bytes_.largest, resnets.bytes().largest);
  return resnets;
}

VaeEncoder::Stage VaeEncoder::TakeStage(Weights& weights, const std::string& name,
                                        const DownStage& layout) {
  Stage stage;
  stage.layout = layout;
  stage.resnets = TakeResnets(weights, name, layout.in, layout.layers);
  const std::string sampler = name + ".downsamplers.0";
  if (layout.sampler == DownStage::Sampler::kStridedConv) {
    stage.downsampler = TakeVideoConv(weights, sampler, layout.in, layout.in, 3, 2);
  } else if (layout.sampler == DownStage::Sampler::kSpaceToDepth) {
    const int64_t fold = layout.stride_t * layout.stride_s * layout.stride_s;
    stage.downsampler = TakeVideoConv(weights, sampler + ".conv", layout.in, layout.out / fold);
  }
  if (layout.has_conv_out) {
    stage.conv_out = TakeVaeResnet(weights, name + ".conv_out",
                                   {.in = layout.in, .out = layout.out, .eps = config_.norm_eps});
  }
  return stage;
}

VaeEncoder::VaeEncoder(Weights& weights, const VaeConfig& config, std::shared_ptr<LayerRing> ring)
    : config_(config), ring_(std::move(ring)) {
  conv_in_ =
      TakeVideoConv(weights, "encoder.conv_in", 3 * config.patch * config.patch, config.encoder_in);
  for (size_t i = 0; i < config.down.size(); ++i) {
    stages_.push_back(
        TakeStage(weights, "encoder.down_blocks." + std::to_string(i), config.down[i]));
  }
  mid_ = TakeResnets(weights, "encoder.mid_block", config.encoder_mid, config.encoder_mid_layers);
  conv_out_ =
      TakeVideoConv(weights, "encoder.conv_out", config.encoder_mid, config.latent_channels + 1);
}

at::Tensor VaeEncoder::Run(const Ops& ops, const Resnets& resnets, at::Tensor x) {
  for (size_t i = 0; i < resnets.size(); ++i) {
    const LayerPlaces::Use use(resnets.places(), i, resnets.size(), &ops.run());
    x = resnets[i].Causal(ops, x);
  }
  return x;
}

at::Tensor VaeEncoder::Run(const Ops& ops, const Stage& stage, at::Tensor x) {
  x = Run(ops, stage.resnets, std::move(x));
  switch (stage.layout.sampler) {
    case DownStage::Sampler::kNone:
      break;
    case DownStage::Sampler::kStridedConv:
      x = stage.downsampler.Causal(ops, x);
      break;
    case DownStage::Sampler::kSpaceToDepth:
      x = Fold(ops, stage.downsampler, stage.layout, x);
      break;
  }
  return stage.layout.has_conv_out ? stage.conv_out.Causal(ops, x) : x;
}

at::Tensor VaeEncoder::Whole(const Ops& ops, const at::Tensor& pixels) const {
  at::Tensor x = conv_in_.Causal(ops, Patchify(pixels, config_.patch));
  for (const Stage& stage : stages_) x = Run(ops, stage, std::move(x));
  x = Run(ops, mid_, std::move(x));
  return conv_out_.Causal(ops, ops.ChannelNormSilu(x, {}, {}));
}

LatentMoments VaeEncoder::Encode(const Ops& ops, const at::Tensor& pixels,
                                 const VaeTiling& tiling) const {
  const at::Tensor x =
      EncodeInTiles(tiling, {config_.spatial_compression, config_.temporal_compression}, pixels,
                    [&](const at::Tensor& part) { return Whole(ops, part); });
  const int64_t channels = x.size(1) - 1;
  return {x.slice(1, 0, channels), x.slice(1, channels)};
}

}  // namespace reel::model
