// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/audio_vae.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/repeat_interleave.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kRowsBefore = 2;  // frames before one that a convolution sees

// Twice the frames and bins, each value four times.
at::Tensor Repeated(const at::Tensor& x) {
  return x.repeat_interleave(2, 2).repeat_interleave(2, 3);
}

std::vector<AudioResnet> TakeMid(Weights& weights, const std::string& name, int64_t channels) {
  return {TakeAudioResnet(weights, name + ".mid.block_1", channels, channels),
          TakeAudioResnet(weights, name + ".mid.block_2", channels, channels)};
}

// From the spectrum back to the latents.
int64_t ReachBefore(const AudioVaeConfig& config) {
  const int64_t of_resnet = 2 * kRowsBefore;
  const int64_t of_level = (config.layers + 1) * of_resnet;
  int64_t reach = kRowsBefore + of_level;
  for (size_t i = 1; i < config.multiples.size(); ++i) {
    reach = (reach + kRowsBefore + 1) / 2 + of_level;
  }
  return reach + 2 * of_resnet + kRowsBefore;
}

}  // namespace

AudioDecoder::AudioDecoder(Weights& weights, const AudioVaeConfig& config)
    : reach_(ReachBefore(config)) {
  int64_t width = config.base_channels * config.multiples.back();
  conv_in_ = TakeAudioConv(weights, "decoder.conv_in", config.latent_channels, width);
  mid_ = TakeMid(weights, "decoder", width);
  for (size_t i = config.multiples.size(); i-- > 0;) {
    const std::string name = absl::StrCat("decoder.up.", i);
    const int64_t out = config.base_channels * config.multiples[i];
    Level level;
    level.resnets = TakeAudioResnets(weights, name + ".block", width, out, config.layers + 1);
    if (i > 0) level.upsampling = TakeAudioConv(weights, name + ".upsample.conv", out, out);
    levels_.push_back(std::move(level));
    width = out;
  }
  conv_out_ = TakeAudioConv(weights, "decoder.conv_out", width, config.channels);
}

at::Tensor AudioDecoder::Whole(const at::Tensor& latents) const {
  at::Tensor x = conv_in_(latents);
  for (const AudioResnet& resnet : mid_) x = resnet(x);
  for (const Level& level : levels_) {
    for (const AudioResnet& resnet : level.resnets) x = resnet(x);
    // The first frame's second half stands for time before the sound's beginning.
    if (level.upsampling.weight.defined()) x = level.upsampling(Repeated(x)).slice(2, 1);
  }
  return conv_out_(PixelNormSilu(x));
}

at::Tensor AudioDecoder::operator()(const at::Tensor& latents, int64_t piece) const {
  constexpr int64_t kFrames = AudioVaeConfig::kCompression;
  const int64_t count = latents.size(2);
  std::vector<at::Tensor> spectra;
  for (int64_t begin = 0; begin < count; begin += piece) {
    const int64_t from = std::max<int64_t>(begin - reach_, 0);
    const at::Tensor spectrum = Whole(latents.slice(2, from, std::min(begin + piece, count)));
    // A latent's last frame is at four times its place; the three before it are its own too.
    const int64_t first = begin == 0 ? 0 : kFrames * (begin - from) - (kFrames - 1);
    spectra.push_back(spectrum.slice(2, first).clone());
  }
  return spectra.size() == 1 ? spectra[0] : at::cat(spectra, 2);
}

AudioEncoder::AudioEncoder(Weights& weights, const AudioVaeConfig& config) {
  int64_t width = config.base_channels;
  conv_in_ = TakeAudioConv(weights, "encoder.conv_in", config.channels, width);
  for (size_t i = 0; i < config.multiples.size(); ++i) {
    const std::string name = absl::StrCat("encoder.down.", i);
    const int64_t out = config.base_channels * config.multiples[i];
    Level level;
    level.resnets = TakeAudioResnets(weights, name + ".block", width, out, config.layers);
    if (i + 1 < config.multiples.size()) {
      level.downsampling = TakeAudioConv(weights, name + ".downsample", out, out);
    }
    levels_.push_back(std::move(level));
    width = out;
  }
  mid_ = TakeMid(weights, "encoder", width);
  conv_out_ = TakeAudioConv(weights, "encoder.conv_out", width, 2 * config.latent_channels);
}

at::Tensor AudioEncoder::operator()(const at::Tensor& spectrum) const {
  at::Tensor x = conv_in_(spectrum);
  for (const Level& level : levels_) {
    for (const AudioResnet& resnet : level.resnets) x = resnet(x);
    if (level.downsampling.weight.defined()) {
      const at::Tensor padded = at::constant_pad_nd(x, {0, 1, kRowsBefore, 0});
      x = at::conv2d(padded, level.downsampling.weight, level.downsampling.bias, /*stride=*/2);
    }
  }
  for (const AudioResnet& resnet : mid_) x = resnet(x);
  // Behind the means stand the variances.
  return conv_out_(PixelNormSilu(x)).chunk(2, 1)[0];
}

AudioVae::AudioVae(Weights& weights, const AudioVaeConfig& config)
    : config_(config),
      dtype_(weights.dtype()),
      decoder_(weights, config),
      encoder_(weights, config),
      mean_(weights.Take("latents_mean", {config.TokenChannels()})),
      deviation_(weights.Take("latents_std", {config.TokenChannels()})) {
  bytes_ = weights.bytes();
  parameters_ = weights.parameters();
}

absl::StatusOr<AudioVae> AudioVae::Load(const WeightSet& stored, const AudioVaeConfig& config,
                                        at::ScalarType dtype, at::Device device) {
  Weights weights(stored, dtype, device);
  AudioVae vae(weights, config);
  REEL_RETURN_IF_ERROR(weights.Finish());
  return vae;
}

at::Tensor AudioVae::Decode(const at::Tensor& tokens, int64_t piece) const {
  // Statistics are those of tokens, not of latents' channels.
  const at::Tensor raw =
      tokens * deviation_.to(tokens.scalar_type()) + mean_.to(tokens.scalar_type());
  const at::Tensor latents = raw.unflatten(2, {-1, config_.LatentBins()}).transpose(1, 2);
  return decoder_(latents.to(dtype_), piece);
}

at::Tensor AudioVae::Encode(const at::Tensor& spectrum) const {
  return encoder_(spectrum.to(dtype_));
}

at::Tensor AudioVae::Normalize(const at::Tensor& latents) const {
  // [1, C, 1, bins / 4], as a token's channels are in order.
  const auto of_latents = [&](const at::Tensor& statistics) {
    return statistics.to(at::kFloat).view({1, config_.latent_channels, 1, config_.LatentBins()});
  };
  return (latents.to(at::kFloat) - of_latents(mean_)) / of_latents(deviation_);
}

}  // namespace reel::model::ltx2
