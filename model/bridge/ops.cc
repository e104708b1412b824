// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/ops.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kernels/activation/activation.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/conv3d/conv3d.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/linear/linear.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rows/fused_norm_call.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/host_threads.h"
#include "model/bridge/norm_views.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

using kernels::Execution;
using kernels::OptionalViewOf;
using kernels::TensorView;
using kernels::ViewOf;

// [1, 3, F, H, W] to [F, 3, H, W], the same memory.
at::Tensor FramesOf(const at::Tensor& pictures) { return pictures.select(0, 0).movedim(1, 0); }

kernels::FrameConvertArgs ConversionOf(const at::Tensor& frames, kernels::FrameFormat format) {
  kernels::FrameConvertArgs args;
  args.frames = ViewOf(frames);
  args.layout = kernels::FrameLayout::kPlanar;
  args.format = format;
  return args;
}

constexpr double kChannelNormEps = 1e-8;

// [B, C, F, H, W] as the kernels see it, [B, F, H, W, C]: the same memory.
TensorView PixelsOf(const at::Tensor& frames) { return ViewOf(frames.movedim(1, -1)); }

std::optional<TensorView> OptionalPixelsOf(const at::Tensor& frames) {
  return frames.defined() ? std::optional(PixelsOf(frames)) : std::nullopt;
}

// [B, C, 1, 1, 1] to [B, C].
std::optional<TensorView> PerChannel(const at::Tensor& vector) {
  return vector.defined() ? std::optional(ViewOf(vector.flatten(1))) : std::nullopt;
}

}  // namespace

Ops::Ops(const kernels::Execution& run) : run_(run) { run_.threads = &LibtorchThreads(); }

void Ops::Call(std::string_view op, at::ScalarType type, const void* call,
               kernels::KernelsOp kernels) const {
  const auto dtype = kernels::DtypeOf(type).value_or(kernels::Dtype::kF64);
  ThrowIfError(kernels::RunModelCall({.op = op, .dtype = dtype, .call = call}, run_, kernels));
}

at::Tensor Ops::RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) const {
  at::Tensor out;
  Call(aten::RmsNormCall{x, weight, eps, false, out}, [&](const Execution& run) {
    out = at::empty_like(x);
    return kernels::RmsNorm({.x = ViewOf(x),
                             .weight = OptionalViewOf(weight),
                             .bias = {},
                             .out = ViewOf(out),
                             .eps = eps},
                            run);
  });
  return out;
}

at::Tensor Ops::RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight,
                                    double eps) const {
  at::Tensor out;
  Call(aten::RmsNormCall{x, weight, eps, true, out}, [&](const Execution& run) {
    out = at::empty_like(x, weight.options());
    return kernels::RmsNorm({.x = ViewOf(x),
                             .weight = ViewOf(weight),
                             .bias = {},
                             .out = ViewOf(out),
                             .eps = eps,
                             .round_before_weight = true},
                            run);
  });
  return out;
}

void Ops::Call(const aten::NormCall& call) const {
  Call(call.op(), call.x.scalar_type(), &call, [&](const Execution& run) {
    // In what the caller has, where it has memory for them.
    if (call.sum != nullptr && !call.sum->defined()) {
      *call.sum = call.out == nullptr ? at::empty_like(call.x)
                                      : at::empty(call.x.sizes(), call.x.options());
    }
    if (call.out != nullptr && !call.out->defined()) {
      *call.out = at::empty_like(call.sum == nullptr ? call.x : *call.sum);
    }
    return kernels::RunFused(call.of, ViewsOf(call), run);
  });
}

at::Tensor Ops::LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          double eps) const {
  at::Tensor out;
  Call({.of = kernels::kLayerNorm,
        .x = x,
        .weight = &weight,
        .bias = &bias,
        .eps = eps,
        .out = &out});
  return out;
}

at::Tensor Ops::AdalnRmsNorm(const at::Tensor& x, const Modulation& modulation) const {
  at::Tensor out;
  Call({.of = kernels::kAdalnRmsNorm,
        .x = x,
        .scale = &modulation.scale,
        .shift = &modulation.shift,
        .vector_of = &modulation.vector_of,
        .eps = modulation.eps,
        .out = &out});
  return out;
}

at::Tensor Ops::AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale,
                               const at::Tensor& shift, double eps) const {
  at::Tensor out;
  Call({.of = kernels::kAdalnLayerNorm,
        .x = x,
        .scale = &scale,
        .shift = &shift,
        .eps = eps,
        .out = &out});
  return out;
}

at::Tensor Ops::GateResidual(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate,
                             const at::Tensor& vector_of) const {
  at::Tensor sum;
  Call({.of = kernels::kGateResidual,
        .x = x,
        .y = &y,
        .gate = &gate,
        .vector_of = &vector_of,
        .sum = &sum});
  return sum;
}

Ops::SumAndNorm Ops::GateResidualAdaln(const at::Tensor& x, const at::Tensor& y,
                                       const at::Tensor& gate, const Modulation& modulation,
                                       SumAndNorm result) const {
  Call({.of = kernels::kGateResidualAdaln,
        .x = x,
        .y = &y,
        .gate = &gate,
        .scale = &modulation.scale,
        .shift = &modulation.shift,
        .vector_of = &modulation.vector_of,
        .eps = modulation.eps,
        .sum = &result.sum,
        .out = &result.out});
  return result;
}

Ops::Normed Ops::QkNormRope(const at::Tensor& q, const at::Tensor& q_weight, const at::Tensor& k,
                            const at::Tensor& k_weight, double eps, const RopeTable& table) const {
  Normed result;
  Call(aten::QkNormRopeCall{q, q_weight, k, k_weight, eps, table, result.q, result.k},
       [&](const Execution& run) {
         result = {at::empty_like(q), at::empty_like(k)};
         return kernels::QkNormRope(
             {.q = ViewOf(q),
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
             run);
       });
  return result;
}

at::Tensor Ops::GeluTanh(const at::Tensor& x) const {
  at::Tensor out;
  Call(aten::GeluTanhCall{x, out}, [&](const Execution& run) {
    out = at::empty_like(x);
    return kernels::ActivationOp(
        {.x = ViewOf(x), .bias = {}, .out = ViewOf(out), .kind = kernels::Activation::kGeluTanh},
        run);
  });
  return out;
}

at::Tensor Ops::Linear(const at::Tensor& x, const at::Tensor& weight,
                       const at::Tensor& bias) const {
  at::Tensor out;
  Call(aten::LinearCall{x, weight, bias, out}, [&](const Execution& run) {
    auto sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    out = at::empty(sizes, x.options());
    return kernels::Linear({.x = ViewOf(x),
                            .weight = ViewOf(weight),
                            .bias = OptionalViewOf(bias),
                            .out = ViewOf(out)},
                           run);
  });
  return out;
}

at::Tensor Ops::Linear(const Rows& x, const CodedWeight& weight, const at::Tensor& bias,
                       at::ScalarType type) const {
  // On a device products of int8 are of 16 bits.
  const bool narrow =
      x.values.is_cuda() && x.values.scalar_type() == at::kChar && type == at::kFloat;
  const at::ScalarType made = narrow ? at::kBFloat16 : type;
  at::Tensor out;
  const aten::LinearScales scales = {x.scale, weight.scale, made};
  const aten::LinearCall call = {x.values, weight.codes, bias, out, &scales};
  Call(call.op, made, &call, [&](const Execution& run) {
    auto sizes = x.values.sizes().vec();
    sizes.back() = weight.codes.size(0);
    out = at::empty(sizes, x.values.options().dtype(made));
    return kernels::Linear({.x = ViewOf(x.values),
                            .weight = ViewOf(weight.codes),
                            .bias = OptionalViewOf(bias),
                            .out = ViewOf(out),
                            .x_scale = ViewOf(x.scale),
                            .weight_scale = ViewOf(weight.scale)},
                           run);
  });
  return out.to(type);
}

at::Tensor Ops::Conv3d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const aten::Sides& stride, const aten::Sides& padding,
                       const aten::FrameTaps* taps) const {
  at::Tensor out;
  Call(aten::Conv3dCall{x, weight, bias, stride, padding, out, taps}, [&](const Execution& run) {
    std::vector<int64_t> sizes = {x.size(0), weight.size(0)};
    for (size_t d = 0; d < stride.size(); ++d) {
      const auto side = static_cast<int64_t>(d) + 2;
      sizes.push_back((x.size(side) + 2 * padding[d] - weight.size(side)) / stride[d] + 1);
    }
    out = at::empty(sizes, x.options(), x.suggest_memory_format());
    return kernels::Conv3d({.x = ViewOf(x),
                            .weight = ViewOf(weight),
                            .bias = OptionalViewOf(bias),
                            .out = ViewOf(out),
                            .stride = stride,
                            .padding = padding},
                           run);
  });
  return out;
}

at::Tensor Ops::LinearGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                           const aten::LinearGeluScales* scales) const {
  at::Tensor out;
  const aten::LinearGeluCall call = {x, weight, bias, out, scales};
  const auto type = scales == nullptr ? x.scalar_type() : at::kBFloat16;
  Call(call.op, type, &call, [](const Execution&) {
    return absl::FailedPreconditionError(
        "The plan was made without the variants of libtorch, and linear_gelu has no others");
  });
  return out;
}

at::Tensor Ops::GatedGelu(const at::Tensor& gate, const at::Tensor& value) const {
  at::Tensor out;
  Call(aten::GatedGeluCall{gate, value, out}, [&](const Execution& run) {
    out = at::empty_like(value);
    return kernels::GatedActivation({.x = ViewOf(gate),
                                     .value = ViewOf(value),
                                     .out = ViewOf(out),
                                     .kind = kernels::Activation::kGeluTanh},
                                    run);
  });
  return out;
}

at::Tensor Ops::ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale,
                                const at::Tensor& shift) const {
  at::Tensor out;
  const aten::ChannelNormSiluCall call = {x, {x}, scale, shift, kChannelNormEps, nullptr, {}, out};
  Call(call, [&](const Execution& run) {
    out = at::empty_like(x);
    return kernels::ChannelNormSilu({.x = PixelsOf(x),
                                     .scale = PerChannel(scale),
                                     .shift = PerChannel(shift),
                                     .out = PixelsOf(out),
                                     .eps = kChannelNormEps},
                                    run);
  });
  return out;
}

void Ops::ChannelNormSiluInto(const FrameSum& frames, const at::Tensor& scale,
                              const at::Tensor& shift, const PaddedFrames& out,
                              const at::Tensor& sum) const {
  at::Tensor unused;
  Call(
      aten::ChannelNormSiluCall{frames.x, frames, scale, shift, kChannelNormEps, &out, sum, unused},
      [&](const Execution& run) {
        return kernels::ChannelNormSilu({.x = PixelsOf(frames.x),
                                         .residual = OptionalPixelsOf(frames.residual),
                                         .bias = OptionalViewOf(frames.bias),
                                         .scale = PerChannel(scale),
                                         .shift = PerChannel(shift),
                                         .out = PixelsOf(out.all),
                                         .sum = OptionalPixelsOf(sum),
                                         .pad_front = out.front,
                                         .pad_back = out.back,
                                         .eps = kChannelNormEps},
                                        run);
      });
}

at::Tensor Ops::DepthToSpace(const FrameSum& frames, bool drop_first) const {
  const at::Tensor& x = frames.x;
  at::Tensor out;
  Call(aten::DepthToSpaceCall{x, frames, drop_first, out}, [&](const Execution& run) {
    out = at::empty({x.size(0), x.size(1) / 8, 2 * x.size(2) - (drop_first ? 1 : 0), 2 * x.size(3),
                     2 * x.size(4)},
                    x.options(), at::MemoryFormat::ChannelsLast3d);
    return kernels::DepthToSpace({.x = PixelsOf(x),
                                  .bias = OptionalViewOf(frames.bias),
                                  .residual = OptionalPixelsOf(frames.residual),
                                  .out = PixelsOf(out),
                                  .drop_first = drop_first},
                                 run);
  });
  return out;
}

at::Tensor Ops::Rgb8(const at::Tensor& pictures) const {
  const at::Tensor frames = FramesOf(pictures);
  at::Tensor rgb;
  Call(aten::FrameConvertCall{frames, false, rgb}, [&](const Execution& run) {
    rgb = at::empty({frames.size(0), frames.size(2), frames.size(3), 3},
                    frames.options().dtype(at::kByte));
    kernels::FrameConvertArgs args = ConversionOf(frames, kernels::FrameFormat::kRgb8);
    args.rgb = ViewOf(rgb);
    return kernels::FrameConvert(args, run);
  });
  return rgb;
}

at::Tensor Ops::I420(const at::Tensor& pictures) const {
  const at::Tensor frames = FramesOf(pictures);
  at::Tensor planes;
  Call(aten::FrameConvertCall{frames, true, planes}, [&](const Execution& run) {
    const int64_t height = frames.size(2), width = frames.size(3), pixels = height * width;
    planes = at::empty({frames.size(0), pixels * 3 / 2}, frames.options().dtype(at::kByte));
    const auto plane = [&](int64_t first, int64_t rows, int64_t columns) {
      return ViewOf(planes.slice(1, first, first + rows * columns).unflatten(1, {rows, columns}));
    };
    kernels::FrameConvertArgs args = ConversionOf(frames, kernels::FrameFormat::kI420);
    args.y = plane(0, height, width);
    args.u = plane(pixels, height / 2, width / 2);
    args.v = plane(pixels + pixels / 4, height / 2, width / 2);
    return kernels::FrameConvert(args, run);
  });
  return planes;
}

}  // namespace reel::model
