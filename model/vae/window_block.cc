// SPDX-License-Identifier: Apache-2.0
#include "model/vae/window_block.h"

#include <ATen/ops/addcmul.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace reel::model {
namespace {

constexpr double kBlockEps = 1e-6;
constexpr double kTurnBase = 10000;
// Rows of the MLP at a time, whose hidden ones are four times as wide.
constexpr int64_t kMlpRows = 16384;
constexpr int64_t kMlpRatio = 4, kMlpMultiple = 16;

at::Tensor ModulatedNorm(const Ops& ops, const at::Tensor& x, const at::Tensor& weight,
                         const at::Tensor& scale, const at::Tensor& shift) {
  const at::Tensor normed = ops.RmsNorm(x, weight, kBlockEps);
  return scale.defined() ? at::addcmul(shift, normed, scale) : normed;
}

// Channels of a head that turn by the frame, the row and the column: a quarter, and the rest in two
// halves, all even.
std::array<int64_t, 3> TurnedChannels(int64_t head_width) {
  int64_t frames = head_width / 4 / 2 * 2;
  if ((head_width - frames) / 2 % 2 != 0) frames -= 2;
  const int64_t side = (head_width - frames) / 2;
  return {frames, side, side};
}

// [places, channels / 2] fp32; frequencies come from double precision.
at::Tensor TurnAngles(int64_t first, int64_t places, int64_t channels, at::Device device) {
  const at::TensorOptions exact(at::kDouble);
  const at::Tensor exponents = at::arange(0, channels, 2, exact) / static_cast<double>(channels);
  const at::Tensor frequencies = at::pow(at::Scalar(kTurnBase), exponents).reciprocal();
  const at::Tensor place = at::arange(first, first + places, at::TensorOptions(at::kFloat));
  return (place.unsqueeze(1) * frequencies.to(at::kFloat).unsqueeze(0)).to(device);
}

// The angles of each place of rows, [f, h, w, 1, head_width / 2].
at::Tensor AnglesOf(const at::Tensor& x, int64_t first, int64_t head_width) {
  const std::array<int64_t, 3> channels = TurnedChannels(head_width);
  std::vector<at::Tensor> parts;
  for (int64_t axis = 0; axis < 3; ++axis) {
    const int64_t turned = channels[static_cast<size_t>(axis)];
    if (turned == 0) continue;
    std::vector<int64_t> sizes = {1, 1, 1, 1, turned / 2};
    sizes[static_cast<size_t>(axis)] = x.size(axis);
    const at::Tensor angles = TurnAngles(axis == 0 ? first : 0, x.size(axis), turned, x.device());
    parts.push_back(angles.view(sizes).expand({x.size(0), x.size(1), x.size(2), 1, turned / 2}));
  }
  return at::cat(parts, -1);
}

// Pairs of neighbouring channels turned, in fp32, rounded once.
at::Tensor TurnedByPlace(const at::Tensor& heads, const at::Tensor& cosines,
                         const at::Tensor& sines) {
  const at::Tensor pairs = heads.unflatten(-1, {-1, 2}).to(at::kFloat);
  const at::Tensor even = pairs.select(-1, 0), odd = pairs.select(-1, 1);
  return at::stack({even * cosines - odd * sines, even * sines + odd * cosines}, -1)
      .flatten(-2)
      .to(heads.scalar_type());
}

}  // namespace

at::Tensor RowsOfFrames(const at::Tensor& frames) {
  return frames.squeeze(0).permute({1, 2, 3, 0});
}

at::Tensor FramesOfRows(const at::Tensor& rows) { return rows.permute({3, 0, 1, 2}).unsqueeze(0); }

WindowHeads WindowBlock::Heads(const Ops& ops, const at::Tensor& x, int64_t first,
                               const BlockModulation& by) const {
  const at::Tensor normed = ModulatedNorm(ops, x, norm1, by.attention_scale, by.attention_shift);
  const at::Tensor angles = AnglesOf(x, first, head_width);
  const at::Tensor cosines = angles.cos(), sines = angles.sin();
  const auto heads = [&](const Linear& layer) {
    return layer(ops, normed).unflatten(-1, {-1, head_width});
  };
  const double scale = 1 / std::sqrt(static_cast<double>(head_width));
  const at::Tensor q = ops.RmsNorm(heads(to_q), norm_q, kBlockEps) * scale;
  const at::Tensor k = ops.RmsNorm(heads(to_k), norm_k, kBlockEps);
  return {TurnedByPlace(q, cosines, sines), TurnedByPlace(k, cosines, sines), heads(to_v)};
}

at::Tensor WindowBlock::Finish(const Ops& ops, const at::Tensor& x, const at::Tensor& attended,
                               const BlockModulation& by) const {
  const at::Tensor sum = (x + to_out(ops, attended.flatten(-2))).contiguous();
  at::Tensor rows = sum.flatten(0, 2);
  for (int64_t begin = 0; begin < rows.size(0); begin += kMlpRows) {
    at::Tensor part = rows.slice(0, begin, std::min(begin + kMlpRows, rows.size(0)));
    const at::Tensor normed = ModulatedNorm(ops, part, norm2, by.mlp_scale, by.mlp_shift);
    part.add_(down(ops, at::silu(gate(ops, normed)).mul_(up(ops, normed))));
  }
  return sum;
}

WindowBlock TakeWindowBlock(Weights& weights, const std::string& name, int64_t channels,
                            const WindowSizes& window, int64_t head_width) {
  const int64_t hidden = (channels * kMlpRatio + kMlpMultiple - 1) / kMlpMultiple * kMlpMultiple;
  const std::string attn = name + ".attn.", mlp = name + ".mlp.";
  return {.window = window,
          .head_width = head_width,
          .norm1 = weights.Take(name + ".norm1.weight", {channels}),
          .norm2 = weights.Take(name + ".norm2.weight", {channels}),
          .to_q = TakeLinear(weights, attn + "to_q", channels, channels),
          .to_k = TakeLinear(weights, attn + "to_k", channels, channels),
          .to_v = TakeLinear(weights, attn + "to_v", channels, channels),
          .to_out = TakeLinear(weights, attn + "to_out.0", channels, channels),
          .norm_q = weights.Take(attn + "norm_q.weight", {head_width}),
          .norm_k = weights.Take(attn + "norm_k.weight", {head_width}),
          .up = TakeLinear(weights, mlp + "w_up", channels, hidden, false),
          .gate = TakeLinear(weights, mlp + "w_gate", channels, hidden, false),
          .down = TakeLinear(weights, mlp + "w_down", hidden, channels, false)};
}

}  // namespace reel::model
