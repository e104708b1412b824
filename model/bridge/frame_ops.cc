// SPDX-License-Identifier: Apache-2.0
// Operators over frames: between convolutions, and from the last of them to 8 bits.
#include <optional>
#include <string_view>

#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"

namespace reel::model {
namespace {

using kernels::Execution;
using kernels::ViewOf;

// Frames [B, C, F, H, W] as operators take them, [B, F, H, W, C], and back: the same memory.
at::Tensor PixelsOf(const at::Tensor& frames) {
  return frames.defined() ? frames.movedim(1, -1) : frames;
}
at::Tensor FramesOfPixels(const at::Tensor& pixels) {
  return pixels.defined() ? pixels.movedim(-1, 1) : pixels;
}
at::Tensor FramesOfPixels(const at::Tensor* pixels) {
  return pixels == nullptr ? at::Tensor() : FramesOfPixels(*pixels);
}

// [B, C, 1, 1, 1] to [B, C], and back.
at::Tensor PerChannel(const at::Tensor& vector) {
  return vector.defined() ? vector.flatten(1) : vector;
}
at::Tensor BesideFrames(const at::Tensor* vector) {
  if (vector == nullptr || !vector->defined()) return {};
  return vector->view({vector->size(0), vector->size(1), 1, 1, 1});
}

FrameSum SumOf(const at::Tensor& x, const at::Tensor* residual, const at::Tensor* bias) {
  return {FramesOfPixels(x), FramesOfPixels(residual), bias == nullptr ? at::Tensor() : *bias};
}

at::Tensor NormAndSilu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                       double eps) {
  const at::Tensor mean_square = x.to(at::kFloat).pow(2).mean(1, true);
  at::Tensor y = (x * at::rsqrt(mean_square + eps)).to(x.scalar_type());
  if (scale.defined()) y = y * (1 + scale) + shift;
  return at::silu(y);
}

using ChannelNormSiluCall = kernels::ChannelNormSiluOperands<Tensors>;

// On a CPU one frame after the other, so that its bits do not depend on how many come at once.
void NormInto(const ChannelNormSiluCall& call, const at::Tensor& x) {
  const PaddedFrames into = {FramesOfPixels(call.out), call.pad_front, call.pad_back};
  const at::Tensor scale = BesideFrames(call.scale), shift = BesideFrames(call.shift);
  const at::Tensor out = into.inner();
  const int64_t at_once = x.is_cpu() ? 1 : x.size(2);
  for (int64_t i = 0; i < x.size(2); i += at_once) {
    const at::Tensor frames = x.slice(2, i, i + at_once);
    out.slice(2, i, i + at_once)
        .copy_(NormAndSilu(x.is_cpu() ? frames.contiguous() : frames, scale, shift, call.eps));
  }
  into.CopyEnds();
}

// Into frames that are there, or into memory of its own.
void RunChannelNormSilu(const ChannelNormSiluCall& call) {
  const at::Tensor sum = SumOf(call.x, call.residual, call.bias).Made();
  if (const at::Tensor kept = FramesOfPixels(call.sum); kept.defined()) kept.copy_(sum);
  if (call.out.defined()) return NormInto(call, sum);
  call.out =
      PixelsOf(NormAndSilu(sum, BesideFrames(call.scale), BesideFrames(call.shift), call.eps));
}

using DepthToSpaceCall = kernels::DepthToSpaceOperands<Tensors>;

// [B, C t i j, F, H, W] to [B, C, F t, H i, W j], each twice.
at::Tensor Doubled(const at::Tensor& x) {
  const at::Tensor apart = x.unflatten(1, {-1, 2, 2, 2}).permute({0, 1, 5, 2, 6, 3, 7, 4});
  return apart.flatten(6, 7).flatten(4, 5).flatten(2, 3);
}

void RunDepthToSpace(const DepthToSpaceCall& call) {
  const auto [x, residual, bias] = SumOf(call.x, call.residual, call.bias);
  at::Tensor out = Doubled(FrameSum{x, {}, bias}.Made());
  if (residual.defined()) {
    out = out + Doubled(residual).repeat({1, x.size(1) / residual.size(1), 1, 1, 1});
  }
  call.out = PixelsOf(call.drop_first ? out.slice(2, 1) : out);
}

// Frames [F, 3, H, W] in -1..1 to RGB [F, H, W, 3], or to planes [F, 3/2 H W].
struct FrameConvertCall {
  static constexpr std::string_view op = "frame_convert";
  const at::Tensor& x;
  bool planes;
  at::Tensor& out;
};

// [1, 3, F, H, W] to [F, 3, H, W], the same memory.
at::Tensor FramesOf(const at::Tensor& pictures) { return pictures.select(0, 0).movedim(1, 0); }

kernels::FrameConvertArgs ConversionOf(const at::Tensor& frames, kernels::FrameFormat format) {
  kernels::FrameConvertArgs args;
  args.frames = ViewOf(frames);
  args.layout = kernels::FrameLayout::kPlanar;
  args.format = format;
  return args;
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

at::Tensor RgbOf(const at::Tensor& frames) {
  return (UnitOf(frames) * 255.0).round().to(at::kByte).permute({0, 2, 3, 1}).contiguous();
}

at::Tensor PlanesOf(const at::Tensor& frames) {
  const at::Tensor rgb = UnitOf(frames);
  const at::Tensor red = rgb.select(1, 0), blue = rgb.select(1, 2);
  const at::Tensor luma = 0.2126 * red + 0.7152 * rgb.select(1, 1) + 0.0722 * blue;
  return at::cat({Bytes(16 + 219 * luma), Bytes(128 + 224 / 1.8556 * Halved(blue - luma)),
                  Bytes(128 + 224 / 1.5748 * Halved(red - luma))},
                 1);
}

void RunFrameConvert(const FrameConvertCall& call) {
  call.out = call.planes ? PlanesOf(call.x) : RgbOf(call.x);
}

}  // namespace

// Here `cpu` takes every call; of depth_to_space a CPU has `loops` alone.
void AddFrameVariants(kernels::KernelCatalog& catalog) {
  using Place = kernels::KernelCatalog::Place;
  catalog.AddFramework({AtenVariant<RunChannelNormSilu>("channel_norm_silu")}, Place::kLast);
  catalog.AddFramework({AtenVariant<RunFrameConvert>("frame_convert")}, Place::kLast);
  catalog.AddFramework({AtenVariant<RunDepthToSpace>("depth_to_space")}, BeforeLoops(catalog));
}

at::Tensor Ops::ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale,
                                const at::Tensor& shift) const {
  const at::Tensor pixels = PixelsOf(x), scales = PerChannel(scale), shifts = PerChannel(shift);
  at::Tensor out;
  Run<kernels::ChannelNormSilu>(
      "channel_norm_silu",
      ChannelNormSiluCall{.x = pixels, .scale = &scales, .shift = &shifts, .out = out},
      [&] { out = PixelsOf(at::empty_like(x)); });
  return FramesOfPixels(out);
}

void Ops::ChannelNormSiluInto(const FrameSum& frames, const at::Tensor& scale,
                              const at::Tensor& shift, const PaddedFrames& out,
                              const at::Tensor& sum) const {
  const at::Tensor x = PixelsOf(frames.x), residual = PixelsOf(frames.residual);
  const at::Tensor scales = PerChannel(scale), shifts = PerChannel(shift);
  at::Tensor all = PixelsOf(out.all), kept = PixelsOf(sum);
  Run<kernels::ChannelNormSilu>("channel_norm_silu",
                                ChannelNormSiluCall{.x = x,
                                                    .residual = &residual,
                                                    .bias = &frames.bias,
                                                    .scale = &scales,
                                                    .shift = &shifts,
                                                    .out = all,
                                                    .sum = &kept,
                                                    .pad_front = out.front,
                                                    .pad_back = out.back},
                                [] {});
}

at::Tensor Ops::DepthToSpace(const FrameSum& frames, bool drop_first) const {
  const at::Tensor& x = frames.x;
  const at::Tensor pixels = PixelsOf(x), residual = PixelsOf(frames.residual);
  at::Tensor out;
  Run<kernels::DepthToSpace>(
      "depth_to_space",
      DepthToSpaceCall{.x = pixels,
                       .bias = &frames.bias,
                       .residual = &residual,
                       .out = out,
                       .drop_first = drop_first},
      [&] {
        out = PixelsOf(at::empty({x.size(0), x.size(1) / 8, 2 * x.size(2) - (drop_first ? 1 : 0),
                                  2 * x.size(3), 2 * x.size(4)},
                                 x.options(), at::MemoryFormat::ChannelsLast3d));
      });
  return FramesOfPixels(out);
}

at::Tensor Ops::Rgb8(const at::Tensor& pictures) const {
  const at::Tensor frames = FramesOf(pictures);
  at::Tensor rgb;
  Call(FrameConvertCall{frames, false, rgb}, [&](const Execution& run) {
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
  Call(FrameConvertCall{frames, true, planes}, [&](const Execution& run) {
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
