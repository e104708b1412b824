// SPDX-License-Identifier: Apache-2.0
#include "model/vae/latent_upsampler.h"

#include <algorithm>
#include <utility>

#include "kernels/base/status_macros.h"
#include "model/vae/vae_layers.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr int64_t kGroups = 32;
constexpr double kNormEps = 1e-5;
constexpr int64_t kKernel = 3, kBlur = 5;

// [B, C, F, H, W] to [B F, C, H, W], and back.
at::Tensor FoldFrames(const at::Tensor& x) { return x.permute({0, 2, 1, 3, 4}).flatten(0, 1); }
at::Tensor UnfoldFrames(const at::Tensor& x, int64_t batch) {
  return x.unflatten(0, {batch, -1}).permute({0, 2, 1, 3, 4});
}

std::vector<int64_t> KernelShape(int64_t out, int64_t in, int64_t dimensions) {
  std::vector<int64_t> shape = {out, in};
  shape.resize(static_cast<size_t>(2 + dimensions), kKernel);
  return shape;
}

}  // namespace

int64_t UpsamplerConfig::TokenNumbers() const {
  // A block's input, both convolutions' padded inputs and outputs, and a norm; latents in fp32.
  constexpr int64_t kOfABlock = 7, kLatents = 6;
  // Before sides shrink there are shrink * shrink times as many tokens, with half as many numbers.
  const int64_t of_a_block = std::max(kOfABlock, kOfABlock * shrink * shrink / 2);
  return of_a_block * width + kLatents * channels;
}

UpsamplerConfig ReadUpsamplerKeys(ConfigReader& reader, const UpsamplerConfig& defaults) {
  constexpr IntRange kWidths = {1, 65536};
  UpsamplerConfig config = defaults;
  config.channels = reader.Int("in_channels", config.channels, kWidths);
  config.width = reader.Int("mid_channels", config.width, kWidths);
  config.blocks = reader.Int("num_blocks_per_stage", config.blocks, {0, 256});
  config.flat = reader.Int("dims", 3, {2, 3}) == 2;
  config.spatial = reader.Bool("spatial_upsample", config.spatial);
  config.temporal = reader.Bool("temporal_upsample", config.temporal);
  if (config.width % kGroups != 0) reader.Fail("mid_channels", "must be a multiple of 32");
  if (!config.spatial && !config.temporal) {
    reader.Fail("spatial_upsample", "must be true where temporal_upsample is not");
  }
  if (config.flat && config.temporal) {
    reader.Fail("dims", "must be 3 where temporal_upsample is true");
  }
  return config;
}

absl::StatusOr<UpsamplerConfig> ReadUpsamplerConfig(const nlohmann::json& json,
                                                    const std::string& source) {
  ConfigReader reader(json, source);
  const UpsamplerConfig config = ReadUpsamplerKeys(reader, {});
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

absl::StatusOr<LatentUpsampler> LatentUpsampler::Load(const WeightSet& stored,
                                                      const UpsamplerConfig& config,
                                                      at::ScalarType dtype, at::Device device) {
  Weights weights(stored, dtype, device);
  const auto conv = [&weights](const std::string& name, int64_t in, int64_t out,
                               int64_t dimensions) {
    return Conv{weights.Take(name + ".weight", KernelShape(out, in, dimensions)),
                weights.Take(name + ".bias", {out})};
  };
  const int64_t width = config.width, dimensions = config.flat ? 2 : 3;
  const auto norm = [&weights, width](const std::string& name) {
    return Norm{weights.Take(name + ".weight", {width}), weights.Take(name + ".bias", {width})};
  };
  const auto blocks = [&](const std::string& name) {
    std::vector<Block> taken;
    for (int64_t i = 0; i < config.blocks; ++i) {
      const std::string block = name + "." + std::to_string(i);
      taken.push_back({conv(block + ".conv1", width, width, dimensions),
                       conv(block + ".conv2", width, width, dimensions), norm(block + ".norm1"),
                       norm(block + ".norm2")});
    }
    return taken;
  };
  LatentUpsampler model(config);
  model.initial_conv_ = conv("initial_conv", config.channels, width, dimensions);
  model.initial_norm_ = norm("initial_norm");
  model.before_ = blocks("res_blocks");
  const int64_t factor =
      (config.spatial ? config.grow * config.grow : 1) * (config.temporal ? 2 : 1);
  model.upsampler_ = conv(config.rational ? "upsampler.conv" : "upsampler.0", width, factor * width,
                          config.temporal ? 3 : 2);
  if (config.rational) {
    model.blur_ = weights.Take("upsampler.blur_down.kernel", {1, 1, kBlur, kBlur});
  }
  model.after_ = blocks("post_upsample_res_blocks");
  model.final_conv_ = conv("final_conv", width, config.channels, dimensions);
  REEL_RETURN_IF_ERROR(weights.Finish());
  model.parameters_ = weights.parameters();
  model.bytes_ = weights.bytes();
  return model;
}

at::Tensor LatentUpsampler::Convolve(const Ops& ops, const Conv& conv, const at::Tensor& x) {
  return conv.weight.dim() == 5 ? ops.Conv3d(x, conv.weight, conv.bias, {1, 1, 1}, {1, 1, 1})
                                : at::conv2d(x, conv.weight, conv.bias, 1, 1);
}

at::Tensor LatentUpsampler::Normalize(const Norm& norm, const at::Tensor& x) {
  return at::group_norm(x, kGroups, norm.weight, norm.bias, kNormEps);
}

at::Tensor LatentUpsampler::Run(const Ops& ops, const Block& block, const at::Tensor& x) {
  const at::Tensor h = at::silu(Normalize(block.norm1, Convolve(ops, block.conv1, x)));
  return at::silu(Normalize(block.norm2, Convolve(ops, block.conv2, h)) + x);
}

// [n, C, h, w].
at::Tensor LatentUpsampler::GrowSides(const Ops& ops, const at::Tensor& pictures) const {
  const at::Tensor made = Convolve(ops, upsampler_, pictures).unsqueeze(2);
  const at::Tensor grown = DepthToSpace(made, 1, config_.grow, config_.grow).squeeze(2);
  if (config_.shrink == 1) return grown;
  const int64_t channels = grown.size(1);
  const at::Tensor blur = blur_.expand({channels, 1, kBlur, kBlur});
  return at::conv2d(grown, blur, {}, config_.shrink, at::IntArrayRef{kBlur / 2}, /*dilation=*/1,
                    channels);
}

at::Tensor LatentUpsampler::Upsample(const Ops& ops, const at::Tensor& x) const {
  if (config_.temporal) {
    const int64_t side = config_.spatial ? 2 : 1;
    return DepthToSpace(Convolve(ops, upsampler_, x), 2, side, side).slice(2, 1);
  }
  if (config_.flat) return GrowSides(ops, x);
  return UnfoldFrames(GrowSides(ops, FoldFrames(x)), x.size(0));
}

at::Tensor LatentUpsampler::operator()(const Ops& ops, const at::Tensor& latents) const {
  at::Tensor x = config_.flat ? FoldFrames(latents) : latents;
  x = at::silu(Normalize(initial_norm_, Convolve(ops, initial_conv_, x)));
  for (const Block& block : before_) x = Run(ops, block, x);
  x = Upsample(ops, x);
  for (const Block& block : after_) x = Run(ops, block, x);
  x = Convolve(ops, final_conv_, x);
  return config_.flat ? UnfoldFrames(x, latents.size(0)) : x;
}

at::Tensor MatchStatistics(const at::Tensor& latents, const at::Tensor& reference, double factor) {
  const auto deviation = [](const at::Tensor& x) { return at::std(x, {2, 3, 4}, true, true); };
  const auto mean = [](const at::Tensor& x) { return x.mean({2, 3, 4}, true); };
  const at::Tensor matched =
      (latents - mean(latents)) / deviation(latents) * deviation(reference) + mean(reference);
  return at::lerp(latents, matched, factor);
}

at::Tensor ToneMap(const at::Tensor& latents, double compression) {
  const double strength = compression * 0.75;
  const at::Tensor large = at::sigmoid(4.0 * strength * (latents.abs() - 1.0));
  return latents * (1.0 - 0.8 * strength * large);
}

at::Tensor UpsampleLatents(const Ops& ops, const LatentUpsampler& upsampler,
                           const LatentStatistics& statistics, const UpsampleTouch& touch,
                           const at::Tensor& latents) {
  const at::Tensor low = statistics.Denormalize(latents).to(upsampler.dtype());
  at::Tensor high = upsampler(ops, low);
  if (touch.match_statistics > 0) high = MatchStatistics(high, low, touch.match_statistics);
  if (touch.tone_map > 0) high = ToneMap(high, touch.tone_map);
  return (statistics.Normalize(high) * statistics.scaling_factor).to(at::kFloat);
}

}  // namespace reel::model
