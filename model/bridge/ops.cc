// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/ops.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "kernels/activation/activation.h"
#include "kernels/adaln/adaln.h"
#include "kernels/attention/attention.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/gate/gate_residual.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/torch_ops/tensor_view_of.h"
#include "model/bridge/aten_ops.h"
#include "model/bridge/attention_rows.h"
#include "model/bridge/framework_rows.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

using kernels::OptionalViewOf;
using kernels::ViewOf;

constexpr double kChannelNormEps = 1e-8;

// [B, C, F, H, W] as the kernels see it, [B, F, H, W, C]: the same memory.
at::Tensor ChannelsLast(const at::Tensor& x) { return x.movedim(1, -1); }

// [B, C, 1, 1, 1] to [B, C].
std::optional<kernels::TensorView> PerChannel(const at::Tensor& vector) {
  return vector.defined() ? std::optional(ViewOf(vector.flatten(1))) : std::nullopt;
}

// [1, 3, F, H, W] to [F, 3, H, W], the same memory.
at::Tensor FramesOf(const at::Tensor& pictures) { return pictures.select(0, 0).movedim(1, 0); }

// Where libtorch hands the GELU to the matrix product's library; elsewhere it would compose another
// GELU, by erf.
bool HasGeluEpilogue(const at::Tensor& x, const at::Tensor& weight) {
  const bool sixteen_bits = x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
  return x.is_cuda() && sixteen_bits && weight.size(0) % 8 == 0 && weight.size(1) % 8 == 0 &&
         x.numel() > 0;
}

bool IsFrameworkAttention(std::string_view variant) {
  return std::find(kAttentionVariants.begin(), kAttentionVariants.end(), variant) !=
         kAttentionVariants.end();
}

// OK, or why a forced row of libtorch cannot take the call, with those that can.
absl::Status Refusal(std::string_view op, std::string_view variant,
                     const aten::AttentionCall& call) {
  const std::string reason = aten::WhyNotAttention(variant, call);
  if (reason.empty()) return absl::OkStatus();
  std::string names;
  for (const std::string_view other : kAttentionVariants) {
    if (aten::WhyNotAttention(other, call).empty()) names += std::string(other) + ", ";
  }
  return absl::FailedPreconditionError(
      "The chosen variant cannot take this call: " + std::string(op) + "=" + std::string(variant) +
      ", " + reason + "; these can: " + names + "aten");
}

kernels::FrameConvertArgs ConversionOf(const at::Tensor& frames, kernels::FrameFormat format) {
  kernels::FrameConvertArgs args;
  args.frames = ViewOf(frames);
  args.layout = kernels::FrameLayout::kPlanar;
  args.format = format;
  return args;
}

}  // namespace

bool Ops::RunsAten(std::string_view op) const {
  if (const std::string_view choice = run_.plan.Choice(op); !choice.empty()) {
    return choice == kAtenVariant;
  }
  return run_.plan.profile() == "reference" || AtenComesFirst(op, run_.stream);
}

template <typename Body>
auto Ops::Aten(std::string_view op, Body&& body) const {
  return Library(op, kAtenVariant, std::forward<Body>(body));
}

template <typename FromLibrary, typename FromKernel>
at::Tensor Ops::Either(std::string_view op, const at::Tensor& like, FromLibrary&& library,
                       FromKernel&& kernel) const {
  if (RunsAten(op)) return Aten(op, std::forward<FromLibrary>(library));
  const at::Tensor out = at::empty_like(like);
  ThrowIfError(kernel(out));
  return out;
}

at::Tensor Ops::RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) const {
  return Either(
      "rms_norm", x, [&] { return aten::RmsNorm(x, weight, eps); },
      [&](const at::Tensor& out) {
        return kernels::RmsNorm({.x = ViewOf(x),
                                 .weight = OptionalViewOf(weight),
                                 .bias = {},
                                 .out = ViewOf(out),
                                 .eps = eps},
                                run_);
      });
}

at::Tensor Ops::RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight,
                                    double eps) const {
  if (RunsAten("rms_norm")) {
    return Aten("rms_norm", [&] { return aten::RmsNormRoundedFirst(x, weight, eps); });
  }
  const at::Tensor out = at::empty_like(x, weight.options());
  ThrowIfError(kernels::RmsNorm({.x = ViewOf(x),
                                 .weight = ViewOf(weight),
                                 .bias = {},
                                 .out = ViewOf(out),
                                 .eps = eps,
                                 .round_before_weight = true},
                                run_));
  return out;
}

at::Tensor Ops::LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          double eps) const {
  return Either(
      "layer_norm", x, [&] { return aten::LayerNorm(x, weight, bias, eps); },
      [&](const at::Tensor& out) {
        return kernels::LayerNorm({.x = ViewOf(x),
                                   .weight = OptionalViewOf(weight),
                                   .bias = OptionalViewOf(bias),
                                   .out = ViewOf(out),
                                   .eps = eps},
                                  run_);
      });
}

at::Tensor Ops::AdalnRmsNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                             double eps) const {
  return Either(
      "adaln_rms_norm", x, [&] { return aten::AdalnRmsNorm(x, scale, shift, eps); },
      [&](const at::Tensor& out) {
        return kernels::AdalnRmsNorm({.x = ViewOf(x),
                                      .weight = {},
                                      .scale = ViewOf(scale),
                                      .shift = ViewOf(shift),
                                      .scale_bias = {},
                                      .shift_bias = {},
                                      .out = ViewOf(out),
                                      .eps = eps},
                                     run_);
      });
}

at::Tensor Ops::AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale,
                               const at::Tensor& shift, double eps) const {
  return Either(
      "adaln_layer_norm", x, [&] { return aten::AdalnLayerNorm(x, scale, shift, eps); },
      [&](const at::Tensor& out) {
        return kernels::AdalnLayerNorm({.x = ViewOf(x),
                                        .weight = {},
                                        .bias = {},
                                        .scale = ViewOf(scale),
                                        .shift = ViewOf(shift),
                                        .scale_bias = {},
                                        .shift_bias = {},
                                        .out = ViewOf(out),
                                        .eps = eps},
                                       run_);
      });
}

at::Tensor Ops::GateResidual(const at::Tensor& x, const at::Tensor& y,
                             const at::Tensor& gate) const {
  return Either(
      "gate_residual", x, [&] { return aten::GateResidual(x, y, gate); },
      [&](const at::Tensor& out) {
        return kernels::GateResidual({.x = ViewOf(x),
                                      .y = ViewOf(y),
                                      .gate = OptionalViewOf(gate),
                                      .gate_bias = {},
                                      .out = ViewOf(out)},
                                     run_);
      });
}

Ops::SumAndNorm Ops::GateResidualAdaln(const at::Tensor& x, const at::Tensor& y,
                                       const at::Tensor& gate, const at::Tensor& scale,
                                       const at::Tensor& shift, double eps) const {
  if (RunsAten("gate_residual_adaln")) {
    return Aten("gate_residual_adaln", [&]() -> SumAndNorm {
      const at::Tensor sum = aten::GateResidual(x, y, gate);
      return {sum, aten::AdalnRmsNorm(sum, scale, shift, eps)};
    });
  }
  const SumAndNorm result = {at::empty_like(x), at::empty_like(x)};
  ThrowIfError(kernels::GateResidualAdaln({.x = ViewOf(x),
                                           .y = ViewOf(y),
                                           .gate = OptionalViewOf(gate),
                                           .gate_bias = {},
                                           .scale = ViewOf(scale),
                                           .shift = ViewOf(shift),
                                           .scale_bias = {},
                                           .shift_bias = {},
                                           .sum = ViewOf(result.sum),
                                           .out = ViewOf(result.out),
                                           .eps = eps},
                                          run_));
  return result;
}

Ops::Normed Ops::QkNormRope(const at::Tensor& q, const at::Tensor& q_weight, const at::Tensor& k,
                            const at::Tensor& k_weight, double eps, const RopeTable& table) const {
  if (RunsAten("qk_norm_rope")) {
    return Aten("qk_norm_rope", [&]() -> Normed {
      return {aten::LtxRope(aten::RmsNorm(q, q_weight, eps), table),
              aten::LtxRope(aten::RmsNorm(k, k_weight, eps), table)};
    });
  }
  const Normed result = {at::empty_like(q), at::empty_like(k)};
  ThrowIfError(
      kernels::QkNormRope({.q = ViewOf(q),
                           .q_out = ViewOf(result.q),
                           .k = ViewOf(k),
                           .k_out = ViewOf(result.k),
                           .q_weight = ViewOf(q_weight),
                           .k_weight = ViewOf(k_weight),
                           .table = kernels::LtxRopeTableView{.cos_sin = ViewOf(table.cos_sin()),
                                                              .index = ViewOf(table.index()),
                                                              .cos = {},
                                                              .sin = {}},
                           .eps = eps},
                          run_));
  return result;
}

at::Tensor Ops::Attend(std::string_view op, const aten::AttentionCall& call) const {
  const std::string_view choice = run_.plan.Choice(op);
  const bool reference = choice.empty() && run_.plan.profile() == "reference";
  if (choice == kAtenVariant || reference) return Aten(op, [&] { return aten::Attention(call); });
  if (choice.empty() && AtenComesFirst(op, run_.stream)) {
    return Library(op, aten::AttentionChoice(call), [&] { return aten::Attention(call); });
  }
  if (IsFrameworkAttention(choice)) {
    ThrowIfError(Refusal(op, choice, call));
    return Library(op, choice, [&] { return aten::AttentionBy(choice, call); });
  }
  // [B, N, S, Dh] as the kernels see it, [B, S, N, Dh]: the same memory.
  const at::Tensor out = at::empty_like(call.q);
  const kernels::AttentionArgs args = {.q = ViewOf(call.q.transpose(1, 2)),
                                       .k = ViewOf(call.k.transpose(1, 2)),
                                       .v = ViewOf(call.v.transpose(1, 2)),
                                       .bias = OptionalViewOf(call.bias),
                                       .key_lengths = {},
                                       .q_scale = {},
                                       .out = ViewOf(out.transpose(1, 2)),
                                       .scale = call.scale};
  ThrowIfError(op == "attention" ? kernels::Attention(args, run_)
                                 : kernels::CrossAttention(args, run_));
  return out;
}

at::Tensor Ops::Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& bias, double scale) const {
  return Attend("attention", {q, k, v, bias, scale});
}

at::Tensor Ops::CrossAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& bias, double scale) const {
  const bool fits = kernels::FitsCrossAttention(k.size(2), q.size(3));
  return Attend(fits ? "cross_attention" : "attention", {q, k, v, bias, scale});
}

at::Tensor Ops::GeluTanh(const at::Tensor& x) const {
  return Either(
      "activation", x, [&] { return aten::GeluTanh(x); },
      [&](const at::Tensor& out) {
        return kernels::ActivationOp({.x = ViewOf(x),
                                      .bias = {},
                                      .out = ViewOf(out),
                                      .kind = kernels::Activation::kGeluTanh},
                                     run_);
      });
}

at::Tensor Ops::LinearGelu(const at::Tensor& x, const at::Tensor& weight,
                           const at::Tensor& bias) const {
  const auto composed = [&] { return aten::LinearGelu(x, weight, bias); };
  if (RunsAten("linear_gelu")) return Aten("linear_gelu", composed);
  const std::string_view choice = run_.plan.Choice("linear_gelu");
  if (!HasGeluEpilogue(x, weight)) {
    if (choice != kEpilogueVariant) return Aten("linear_gelu", composed);
    ThrowIfError(absl::FailedPreconditionError(
        "The chosen variant cannot take this call: linear_gelu=epilogue needs 16-bit types on a "
        "GPU and sides that are multiples of 8; these can: aten"));
  }
  return Library("linear_gelu", kEpilogueVariant, [&] {
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    auto sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    return at::_addmm_activation(bias, rows, weight.t(), 1, 1, true).view(sizes);
  });
}

at::Tensor Ops::GatedGelu(const at::Tensor& gate, const at::Tensor& value) const {
  return Either(
      "gated_activation", value, [&] { return aten::GatedGelu(gate, value); },
      [&](const at::Tensor& out) {
        return kernels::GatedActivation({.x = ViewOf(gate),
                                         .value = ViewOf(value),
                                         .out = ViewOf(out),
                                         .kind = kernels::Activation::kGeluTanh},
                                        run_);
      });
}

at::Tensor Ops::ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale,
                                const at::Tensor& shift) const {
  return Either(
      "channel_norm_silu", x,
      [&] { return aten::ChannelNormSilu(x, scale, shift, kChannelNormEps); },
      [&](const at::Tensor& out) {
        return kernels::ChannelNormSilu({.x = ViewOf(ChannelsLast(x)),
                                         .scale = PerChannel(scale),
                                         .shift = PerChannel(shift),
                                         .out = ViewOf(ChannelsLast(out)),
                                         .eps = kChannelNormEps},
                                        run_);
      });
}

at::Tensor Ops::Rgb8(const at::Tensor& pictures) const {
  const at::Tensor frames = FramesOf(pictures);
  if (RunsAten("frame_convert")) return Aten("frame_convert", [&] { return aten::Rgb8(frames); });
  const at::Tensor rgb = at::empty({frames.size(0), frames.size(2), frames.size(3), 3},
                                   frames.options().dtype(at::kByte));
  kernels::FrameConvertArgs args = ConversionOf(frames, kernels::FrameFormat::kRgb8);
  args.rgb = ViewOf(rgb);
  ThrowIfError(kernels::FrameConvert(args, run_));
  return rgb;
}

at::Tensor Ops::I420(const at::Tensor& pictures) const {
  const at::Tensor frames = FramesOf(pictures);
  if (RunsAten("frame_convert")) return Aten("frame_convert", [&] { return aten::I420(frames); });
  const int64_t height = frames.size(2), width = frames.size(3), pixels = height * width;
  const at::Tensor planes =
      at::empty({frames.size(0), pixels * 3 / 2}, frames.options().dtype(at::kByte));
  const auto plane = [&](int64_t first, int64_t rows, int64_t columns) {
    return ViewOf(planes.slice(1, first, first + rows * columns).unflatten(1, {rows, columns}));
  };
  kernels::FrameConvertArgs args = ConversionOf(frames, kernels::FrameFormat::kI420);
  args.y = plane(0, height, width);
  args.u = plane(pixels, height / 2, width / 2);
  args.v = plane(pixels + pixels / 4, height / 2, width / 2);
  ThrowIfError(kernels::FrameConvert(args, run_));
  return planes;
}

}  // namespace reel::model
