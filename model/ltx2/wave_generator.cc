// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/wave_generator.h"

#include <ATen/ops/leaky_relu.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kEndKernel = 7;
// The reference's last activation does not take the configuration's slope.
constexpr double kLastSlope = 0.01;

bool HasSnake(const GeneratorConfig& config) {
  return config.activation == GeneratorConfig::Activation::kSnake;
}

// Frames on each side that a sample depends on: from the wave back to the spectrum.
int64_t ReachOf(const GeneratorConfig& config) {
  const int64_t of_activation = HasSnake(config) ? Snake::kReach : 0;
  int64_t of_stacks = 0;
  for (const GeneratorConfig::Stack& stack : config.stacks) {
    int64_t reach = 0;
    for (const int64_t dilation : stack.dilations) {
      reach += (dilation + 1) * (stack.kernel / 2) + 2 * of_activation;
    }
    of_stacks = std::max(of_stacks, reach);
  }
  int64_t reach = kEndKernel / 2 + of_activation;
  for (size_t i = config.upsamplings.size(); i-- > 0;) {
    const auto [kernel, factor] = config.upsamplings[i];
    reach = (reach + of_stacks + kernel + factor - 1) / factor;
  }
  return reach + kEndKernel / 2;
}

}  // namespace

WaveGenerator::WaveGenerator(Weights& weights, const std::string& prefix,
                             const GeneratorConfig& config)
    : config_(config), reach_(ReachOf(config)) {
  conv_in_ =
      TakeWaveConv(weights, prefix + "conv_in",
                   {.in = config.in_channels, .out = config.hidden_channels, .kernel = kEndKernel});
  for (size_t i = 0; i < config.upsamplings.size(); ++i) {
    stages_.push_back(TakeStage(weights, prefix, static_cast<int64_t>(i)));
  }
  const int64_t channels = config.hidden_channels >> config.upsamplings.size();
  if (HasSnake(config)) snake_out_ = TakeSnake(weights, prefix + "act_out", channels);
  conv_out_ = TakeWaveConv(weights, prefix + "conv_out",
                           {.in = channels,
                            .out = config.out_channels,
                            .kernel = kEndKernel,
                            .has_bias = config.final_bias});
}

WaveGenerator::Stage WaveGenerator::TakeStage(Weights& weights, const std::string& prefix,
                                              int64_t index) const {
  const auto [kernel, factor] = config_.upsamplings[static_cast<size_t>(index)];
  const int64_t in = config_.hidden_channels >> index, out = in / 2;
  Stage stage;
  stage.upsampling = TakeWaveUpsampling(weights, absl::StrCat(prefix, "upsamplers.", index),
                                        {.in = in, .out = out, .kernel = kernel}, factor);
  int64_t number = index * static_cast<int64_t>(config_.stacks.size());
  for (const GeneratorConfig::Stack& layout : config_.stacks) {
    const std::string name = absl::StrCat(prefix, "resnets.", number++, ".");
    std::vector<Block>& stack = stage.stacks.emplace_back();
    for (size_t i = 0; i < layout.dilations.size(); ++i) {
      Block block;
      WaveConvShape shape = {.in = out, .out = out, .kernel = layout.kernel};
      block.conv2 = TakeWaveConv(weights, absl::StrCat(name, "convs2.", i), shape);
      shape.dilation = layout.dilations[i];
      block.conv1 = TakeWaveConv(weights, absl::StrCat(name, "convs1.", i), shape);
      if (HasSnake(config_)) {
        block.snake1 = TakeSnake(weights, absl::StrCat(name, "acts1.", i), out);
        block.snake2 = TakeSnake(weights, absl::StrCat(name, "acts2.", i), out);
      }
      stack.push_back(std::move(block));
    }
  }
  return stage;
}

at::Tensor WaveGenerator::Activate(const Snake& snake, const at::Tensor& x) const {
  return HasSnake(config_) ? snake(x) : at::leaky_relu(x, config_.negative_slope);
}

at::Tensor WaveGenerator::Run(const Stage& stage, const at::Tensor& x) const {
  // Snakes stand inside the blocks alone.
  const at::Tensor high =
      stage.upsampling(HasSnake(config_) ? x : at::leaky_relu(x, config_.negative_slope));
  at::Tensor sum;
  for (const std::vector<Block>& stack : stage.stacks) {
    at::Tensor h = high;
    for (const Block& block : stack) {
      const at::Tensor first = block.conv1(Activate(block.snake1, h));
      h = h + block.conv2(Activate(block.snake2, first));
    }
    sum = sum.defined() ? sum + h : h;
  }
  return sum / static_cast<double>(stage.stacks.size());
}

at::Tensor WaveGenerator::Whole(const at::Tensor& spectrum) const {
  at::Tensor x = conv_in_(spectrum);
  for (const Stage& stage : stages_) x = Run(stage, x);
  x = conv_out_(HasSnake(config_) ? snake_out_(x) : at::leaky_relu(x, kLastSlope));
  switch (config_.end) {
    case GeneratorConfig::End::kTanh:
      return x.tanh();
    case GeneratorConfig::End::kClamp:
      return x.clamp(-1, 1);
    case GeneratorConfig::End::kNone:
      return x;
  }
  return x;
}

at::Tensor WaveGenerator::operator()(const at::Tensor& spectrum, int64_t piece) const {
  const int64_t frames = spectrum.size(2), samples = config_.SamplesPerFrame();
  std::vector<at::Tensor> waves;
  for (int64_t begin = 0; begin < frames; begin += piece) {
    const int64_t end = std::min(begin + piece, frames);
    const int64_t from = std::max<int64_t>(begin - reach_, 0);
    const at::Tensor wave = Whole(spectrum.slice(2, from, std::min(end + reach_, frames)));
    // A view would keep what was made around the piece.
    waves.push_back(wave.slice(2, (begin - from) * samples, (end - from) * samples).clone());
  }
  return waves.size() == 1 ? waves[0] : at::cat(waves, 2);
}

}  // namespace reel::model::ltx2
