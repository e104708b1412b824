// SPDX-License-Identifier: Apache-2.0
// The operators that take frames with something still to be added.
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/torch_ops/tensor_view_of.h"
#include "model/bridge/aten_ops.h"
#include "model/bridge/framework_rows.h"
#include "model/bridge/ops.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

using kernels::OptionalViewOf;
using kernels::TensorView;
using kernels::ViewOf;

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

void Ops::ChannelNormSiluInto(const FrameSum& frames, const at::Tensor& scale,
                              const at::Tensor& shift, const PaddedFrames& out,
                              const at::Tensor& sum) const {
  constexpr std::string_view kOp = "channel_norm_silu";
  if (RunsAten(kOp)) {
    Library(kOp, kAtenVariant, [&] {
      const at::Tensor made = frames.Made();
      if (sum.defined()) sum.copy_(made);
      return out.inner().copy_(aten::ChannelNormSilu(made, scale, shift, kChannelNormEps));
    });
    return out.CopyEnds();
  }
  ThrowIfError(kernels::ChannelNormSilu({.x = PixelsOf(frames.x),
                                         .residual = OptionalPixelsOf(frames.residual),
                                         .bias = OptionalViewOf(frames.bias),
                                         .scale = PerChannel(scale),
                                         .shift = PerChannel(shift),
                                         .out = PixelsOf(out.all),
                                         .sum = OptionalPixelsOf(sum),
                                         .pad_front = out.front,
                                         .pad_back = out.back,
                                         .eps = kChannelNormEps},
                                        run_));
}

at::Tensor Ops::DepthToSpace(const FrameSum& frames, bool drop_first) const {
  constexpr std::string_view kOp = "depth_to_space";
  const at::Tensor& x = frames.x;
  if (RunsAten(kOp)) {
    return Library(kOp, kAtenVariant, [&] {
      return aten::DepthToSpace(FrameSum{x, {}, frames.bias}.Made(), frames.residual, drop_first);
    });
  }
  const at::Tensor out = at::empty({x.size(0), x.size(1) / 8, 2 * x.size(2) - (drop_first ? 1 : 0),
                                    2 * x.size(3), 2 * x.size(4)},
                                   x.options(), at::MemoryFormat::ChannelsLast3d);
  ThrowIfError(kernels::DepthToSpace({.x = PixelsOf(x),
                                      .bias = OptionalViewOf(frames.bias),
                                      .residual = OptionalPixelsOf(frames.residual),
                                      .out = PixelsOf(out),
                                      .drop_first = drop_first},
                                     run_));
  return out;
}

}  // namespace reel::model
