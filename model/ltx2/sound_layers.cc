// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/sound_layers.h"

#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/replication_pad1d.h>
#include <ATen/ops/sinc.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "model/bridge/or_none.h"

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kFilterTaps = 12;  // of both filters around a snake, at twice the rate
constexpr double kLeast = 1e-9;
// The resampler's sinc: its zeros on each side, what it keeps of half the rate, and samples on each
// side that it spans, kZeros / kRolloff rounded up.
constexpr int64_t kZeros = 6, kWidth = SincResampler::kReach;
constexpr double kRolloff = 0.99;

// The file has one filter; a convolution by channels needs it for each.
at::Tensor TakeFilter(Weights& weights, const std::string& name, int64_t channels) {
  const at::Tensor filter = weights.Take(name, {1, 1, kFilterTaps});
  return filter.defined() ? filter.expand({channels, 1, kFilterTaps}) : filter;
}

at::Tensor TakeExponential(Weights& weights, const std::string& name, int64_t channels) {
  const at::Tensor logarithm = weights.Take(name, {channels});
  return logarithm.defined() ? logarithm.exp().view({1, channels, 1}) : logarithm;
}

}  // namespace

at::Tensor WaveConv::operator()(const at::Tensor& x) const {
  const int64_t pad = dilation * (weight.size(2) / 2);
  return at::conv1d(x, weight, OrNone(bias), 1, pad, dilation);
}

WaveConv TakeWaveConv(Weights& weights, const std::string& name, const WaveConvShape& shape) {
  WaveConv conv;
  conv.weight = weights.Take(name + ".weight", {shape.out, shape.in, shape.kernel});
  if (shape.has_bias) conv.bias = weights.Take(name + ".bias", {shape.out});
  conv.dilation = shape.dilation;
  return conv;
}

at::Tensor WaveUpsampling::operator()(const at::Tensor& x) const {
  return at::conv_transpose1d(x, weight, bias, factor, (weight.size(2) - factor) / 2);
}

WaveUpsampling TakeWaveUpsampling(Weights& weights, const std::string& name,
                                  const WaveConvShape& shape, int64_t factor) {
  return {weights.Take(name + ".weight", {shape.in, shape.out, shape.kernel}),
          weights.Take(name + ".bias", {shape.out}), factor};
}

at::Tensor Snake::operator()(const at::Tensor& x) const {
  constexpr int64_t kSide = kFilterTaps / 2 - 1;  // copies of the first and the last sample
  constexpr int64_t kCrop = 2 * kSide + kFilterTaps / 2 - 1;
  const int64_t channels = x.size(1);
  const at::Tensor wide =
      at::conv_transpose1d(at::replication_pad1d(x, {kSide, kSide}), up, {}, 2, 0, 0, channels);
  at::Tensor y = (2 * wide).slice(2, kCrop, wide.size(2) - kCrop);
  y = y + beta * at::pow((y * alpha).sin(), 2);
  const at::Tensor padded = at::replication_pad1d(y, {kSide, kSide + 1});
  return at::conv1d(padded, down, {}, /*stride=*/2, at::IntArrayRef{0}, /*dilation=*/1, channels);
}

Snake TakeSnake(Weights& weights, const std::string& name, int64_t channels) {
  Snake snake;
  snake.alpha = TakeExponential(weights, name + ".act.alpha", channels);
  snake.beta = TakeExponential(weights, name + ".act.beta", channels);
  if (snake.beta.defined()) snake.beta = 1.0 / (snake.beta + kLeast);
  snake.up = TakeFilter(weights, name + ".upsample.filter", channels);
  snake.down = TakeFilter(weights, name + ".downsample.filter", channels);
  return snake;
}

SincResampler::SincResampler(int64_t ratio, at::Device device) : ratio_(ratio) {
  const at::Tensor time =
      (at::arange(2 * kWidth * ratio + 1, at::TensorOptions(at::kFloat)) / ratio - kWidth) *
      kRolloff;
  const at::Tensor window =
      at::pow((time.clamp(-kZeros, kZeros) * std::numbers::pi / kZeros / 2).cos(), 2);
  filter_ = (at::sinc(time) * window * kRolloff / ratio).view({1, 1, -1}).to(device);
}

at::Tensor SincResampler::operator()(const at::Tensor& wave, int64_t piece) const {
  const int64_t channels = wave.size(1), samples = wave.size(2), taps = filter_.size(2);
  const at::Tensor filters = filter_.expand({channels, 1, taps});
  const at::Tensor padded = at::replication_pad1d(wave, {kWidth, kWidth});
  std::vector<at::Tensor> made;
  for (int64_t begin = 0; begin < samples; begin += piece) {
    const int64_t end = std::min(begin + piece, samples);
    const at::Tensor part = padded.slice(2, begin, end + 2 * kWidth);
    const at::Tensor wide = at::conv_transpose1d(part, filters, {}, ratio_, 0, 0, channels);
    const int64_t first = 2 * kWidth * ratio_;
    made.push_back(wide.slice(2, first, first + (end - begin) * ratio_) * ratio_);
  }
  return at::cat(made, 2);
}

}  // namespace reel::model::ltx2
