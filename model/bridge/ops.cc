// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/ops.h"

#include <cmath>

#include "kernels/dispatch/kernel_counters.h"

namespace reel::model {
namespace {

constexpr std::string_view kAten = "aten";
constexpr double kChannelNormEps = 1e-8;

std::optional<at::Tensor> OrNone(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

void Ops::Count(std::string_view op) const { run_.counters.Count(op, kAten); }

at::Tensor Ops::RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) const {
  Count("rms_norm");
  return at::rms_norm(x, {x.size(-1)}, OrNone(weight), eps);
}

at::Tensor Ops::RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight,
                                    double eps) const {
  Count("rms_norm");
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scaled = wide * at::rsqrt(wide.pow(2).mean(-1, true) + eps);
  return weight * scaled.to(weight.scalar_type());
}

at::Tensor Ops::LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          double eps) const {
  Count("layer_norm");
  return at::layer_norm(x, {x.size(-1)}, OrNone(weight), OrNone(bias), eps);
}

at::Tensor Ops::AdalnRmsNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                             double eps) const {
  Count("adaln_rms_norm");
  return at::rms_norm(x, {x.size(-1)}, std::nullopt, eps) * (1 + scale) + shift;
}

at::Tensor Ops::AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale,
                               const at::Tensor& shift, double eps) const {
  Count("adaln_layer_norm");
  return at::layer_norm(x, {x.size(-1)}, std::nullopt, std::nullopt, eps) * (1 + scale) + shift;
}

at::Tensor Ops::GateResidual(const at::Tensor& x, const at::Tensor& y,
                             const at::Tensor& gate) const {
  Count("gate_residual");
  return gate.defined() ? x + y * gate : x + y;
}

at::Tensor Ops::LtxRope(const at::Tensor& x, const RopeTable& table) const {
  Count("ltx_rope");
  const at::Tensor pairs = x.unflatten(2, {-1, 2});  // [B, S, D/2, 2]
  const at::Tensor turned = at::stack({-pairs.select(-1, 1), pairs.select(-1, 0)}, -1).flatten(2);
  return (x.to(at::kFloat) * table.cos + turned.to(at::kFloat) * table.sin).to(x.scalar_type());
}

at::Tensor Ops::Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& bias, double scale) const {
  Count("attention");
  return at::scaled_dot_product_attention(q, k, v, OrNone(bias), 0.0, false,
                                          scale == 0 ? std::nullopt : std::optional(scale));
}

at::Tensor Ops::GeluTanh(const at::Tensor& x) const {
  Count("activation");
  return at::gelu(x, "tanh");
}

at::Tensor Ops::GatedGelu(const at::Tensor& gate, const at::Tensor& value) const {
  Count("gated_activation");
  const double root = std::sqrt(2.0 / M_PI);
  const at::Tensor inner = root * (gate + 0.044715 * at::pow(gate, 3.0));
  return 0.5 * gate * (1.0 + at::tanh(inner)) * value;
}

at::Tensor Ops::ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale,
                                const at::Tensor& shift) const {
  Count("channel_norm_silu");
  const at::Tensor mean_square = x.to(at::kFloat).pow(2).mean(1, true);
  at::Tensor y = (x * at::rsqrt(mean_square + kChannelNormEps)).to(x.scalar_type());
  if (scale.defined()) y = y * (1 + scale) + shift;
  return at::silu(y);
}

}  // namespace reel::model
