// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/aten_ops.h"

#include <cmath>
#include <optional>

namespace reel::model::aten {
namespace {

std::optional<at::Tensor> OrNone(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// In 0..1, cut in the frames' own type as the reference does it.
at::Tensor UnitOf(const at::Tensor& frames) {
  return (frames * 0.5 + 0.5).clamp(0.0, 1.0).to(at::kFloat);
}

at::Tensor Bytes(const at::Tensor& values) {
  return values.round().clamp(0.0, 255.0).to(at::kByte).flatten(1);
}

// A colour difference [F, H, W] at half the size: rows in pairs, columns [1 2 1] around the left.
at::Tensor Halved(const at::Tensor& x) {
  const at::Tensor rows = (x.slice(1, 0, std::nullopt, 2) + x.slice(1, 1, std::nullopt, 2)) / 2;
  const at::Tensor middle = rows.slice(2, 0, std::nullopt, 2);
  const at::Tensor right = rows.slice(2, 1, std::nullopt, 2);
  const at::Tensor left = at::cat({rows.slice(2, 0, 1), right.slice(2, 0, -1)}, 2);
  return (left + 2 * middle + right) / 4;
}

// [B, C t i j, F, H, W] to [B, C, F t, H i, W j], each twice.
at::Tensor Doubled(const at::Tensor& x) {
  const at::Tensor apart = x.unflatten(1, {-1, 2, 2, 2}).permute({0, 1, 5, 2, 6, 3, 7, 4});
  return apart.flatten(6, 7).flatten(4, 5).flatten(2, 3);
}

}  // namespace

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return at::rms_norm(x, {x.size(-1)}, OrNone(weight), eps);
}

at::Tensor RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scaled = wide * at::rsqrt(wide.pow(2).mean(-1, true) + eps);
  return weight * scaled.to(weight.scalar_type());
}

at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     double eps) {
  return at::layer_norm(x, {x.size(-1)}, OrNone(weight), OrNone(bias), eps);
}

at::Tensor AdalnRmsNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                        double eps) {
  return at::rms_norm(x, {x.size(-1)}, std::nullopt, eps) * (1 + scale) + shift;
}

at::Tensor AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                          double eps) {
  return at::layer_norm(x, {x.size(-1)}, std::nullopt, std::nullopt, eps) * (1 + scale) + shift;
}

at::Tensor GateResidual(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate) {
  return gate.defined() ? x + y * gate : x + y;
}

at::Tensor LtxRope(const at::Tensor& x, const RopeTable& table) {
  const at::Tensor pairs = x.unflatten(2, {-1, 2});  // [B, S, D/2, 2]
  const at::Tensor turned = at::stack({-pairs.select(-1, 1), pairs.select(-1, 0)}, -1).flatten(2);
  return (x.to(at::kFloat) * table.dense().cos + turned.to(at::kFloat) * table.dense().sin)
      .to(x.scalar_type());
}

at::Tensor GeluTanh(const at::Tensor& x) { return at::gelu(x, "tanh"); }

at::Tensor LinearGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return GeluTanh(at::linear(x, weight, bias));
}

at::Tensor GatedGelu(const at::Tensor& gate, const at::Tensor& value) {
  const double root = std::sqrt(2.0 / M_PI);
  const at::Tensor inner = root * (gate + 0.044715 * at::pow(gate, 3.0));
  return 0.5 * gate * (1.0 + at::tanh(inner)) * value;
}

at::Tensor ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                           double eps) {
  const at::Tensor mean_square = x.to(at::kFloat).pow(2).mean(1, true);
  at::Tensor y = (x * at::rsqrt(mean_square + eps)).to(x.scalar_type());
  if (scale.defined()) y = y * (1 + scale) + shift;
  return at::silu(y);
}

at::Tensor DepthToSpace(const at::Tensor& x, const at::Tensor& residual, bool drop_first) {
  at::Tensor out = Doubled(x);
  if (residual.defined()) {
    out = out + Doubled(residual).repeat({1, x.size(1) / residual.size(1), 1, 1, 1});
  }
  return drop_first ? out.slice(2, 1) : out;
}

at::Tensor Rgb8(const at::Tensor& frames) {
  return (UnitOf(frames) * 255.0).round().to(at::kByte).permute({0, 2, 3, 1}).contiguous();
}

at::Tensor I420(const at::Tensor& frames) {
  const at::Tensor rgb = UnitOf(frames);
  const at::Tensor red = rgb.select(1, 0), blue = rgb.select(1, 2);
  const at::Tensor luma = 0.2126 * red + 0.7152 * rgb.select(1, 1) + 0.0722 * blue;
  return at::cat({Bytes(16 + 219 * luma), Bytes(128 + 224 / 1.8556 * Halved(blue - luma)),
                  Bytes(128 + 224 / 1.5748 * Halved(red - luma))},
                 1);
}

}  // namespace reel::model::aten
