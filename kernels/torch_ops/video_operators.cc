// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

ChannelNormSiluArgs ChannelNormOf(const TorchCall& call) {
  return {.x = call.View("x"),
          .residual = call.OptionalView("residual"),
          .bias = call.OptionalView("bias"),
          .scale = call.OptionalView("scale"),
          .shift = call.OptionalView("shift"),
          .out = call.View("out"),
          .pad_front = call.Integer("pad_front"),
          .pad_back = call.Integer("pad_back"),
          .silu = call.Flag("silu"),
          .eps = call.Real("eps")};
}

absl::Status RunChannelNormSilu(const TorchCall& call, const Execution& run) {
  return ChannelNormSilu(ChannelNormOf(call), run);
}
absl::Status RunChannelNormSiluSum(const TorchCall& call, const Execution& run) {
  ChannelNormSiluArgs args = ChannelNormOf(call);
  args.sum = call.View("sum");
  return ChannelNormSilu(args, run);
}

TorchOutputs PaddedOutput(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  auto sizes = x.sym_sizes().vec();
  TORCH_CHECK_VALUE(sizes.size() == 5, "channel_norm_silu: x is [B,F,H,W,C], not of rank ",
                    sizes.size());
  sizes[1] = sizes[1] + call.Size("pad_front") + call.Size("pad_back");
  return {EmptyBeside(x, sizes)};
}

TorchOutputs PaddedOutputAndSum(const TorchCall& call) {
  return {PaddedOutput(call).front(), LikeX(call).front()};
}

absl::Status RunDepthToSpace(const TorchCall& call, const Execution& run) {
  return DepthToSpace({.x = call.View("x"),
                       .bias = call.OptionalView("bias"),
                       .residual = call.OptionalView("residual"),
                       .out = call.View("out"),
                       .drop_first = call.Flag("drop_first")},
                      run);
}

TorchOutputs DoubledOutput(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  auto sizes = x.sym_sizes().vec();
  TORCH_CHECK_VALUE(sizes.size() == 5, "depth_to_space: x is [B,F,H,W,8C], not of rank ",
                    sizes.size());
  for (size_t d = 1; d < 4; ++d) sizes[d] = sizes[d] * 2;
  if (call.Flag("drop_first")) sizes[1] = sizes[1] - 1;
  sizes[4] = sizes[4] / 8;
  return {EmptyBeside(x, sizes)};
}

absl::StatusOr<FrameLayout> LayoutOf(const std::string& name) {
  if (name == "packed") return FrameLayout::kPacked;
  if (name == "planar") return FrameLayout::kPlanar;
  if (name == "patched") return FrameLayout::kPatched;
  return absl::InvalidArgumentError(
      absl::StrCat("A layout of frames is packed, planar or patched, not '", name, "'"));
}

absl::StatusOr<FrameConvertArgs> ConversionOf(const TorchCall& call, FrameFormat format) {
  FrameConvertArgs args;
  args.frames = call.View("frames");
  args.format = format;
  REEL_ASSIGN_OR_RETURN(args.layout, LayoutOf(call.Text("layout")));
  args.exact = call.Flag("exact");
  if (format == FrameFormat::kRgb8) return args;
  args.bt601 = call.Flag("bt601");
  args.full_range = call.Flag("full_range");
  args.center_chroma = call.Flag("center_chroma");
  return args;
}

absl::Status RunRgb(const TorchCall& call, const Execution& run) {
  REEL_ASSIGN_OR_RETURN(FrameConvertArgs args, ConversionOf(call, FrameFormat::kRgb8));
  args.rgb = call.View("rgb");
  return FrameConvert(args, run);
}

absl::Status RunI420(const TorchCall& call, const Execution& run) {
  REEL_ASSIGN_OR_RETURN(FrameConvertArgs args, ConversionOf(call, FrameFormat::kI420));
  args.y = call.View("y");
  args.u = call.View("u");
  args.v = call.View("v");
  return FrameConvert(args, run);
}

absl::Status RunNv12(const TorchCall& call, const Execution& run) {
  REEL_ASSIGN_OR_RETURN(FrameConvertArgs args, ConversionOf(call, FrameFormat::kNv12));
  args.y = call.View("y");
  args.uv = call.View("uv");
  return FrameConvert(args, run);
}

struct FrameSizes {
  at::Tensor frames;
  c10::SymInt count, height, width;

  at::Tensor Bytes(std::vector<c10::SymInt> sizes) const {
    return at::empty_symint(sizes, frames.options().dtype(at::kByte));
  }
  c10::SymInt half_height() const { return (height + 1) / 2; }
  c10::SymInt half_width() const { return (width + 1) / 2; }
};

// For a layout that the call refuses any sizes will do.
FrameSizes SizesOf(const TorchCall& call) {
  const at::Tensor x = call.Tensor("frames");
  TORCH_CHECK_VALUE(x.dim() == 4, "frame_convert: frames are of rank 4, not ", x.dim());
  const std::string layout = call.Text("layout");
  if (layout == "planar") return {x, x.sym_size(0), x.sym_size(2), x.sym_size(3)};
  const int64_t scale = layout == "patched" ? 4 : 1;
  return {x, x.sym_size(0), x.sym_size(1) * scale, x.sym_size(2) * scale};
}

TorchOutputs RgbOutput(const TorchCall& call) {
  const FrameSizes sizes = SizesOf(call);
  return {sizes.Bytes({sizes.count, sizes.height, sizes.width, 3})};
}

TorchOutputs I420Outputs(const TorchCall& call) {
  const FrameSizes sizes = SizesOf(call);
  return {sizes.Bytes({sizes.count, sizes.height, sizes.width}),
          sizes.Bytes({sizes.count, sizes.half_height(), sizes.half_width()}),
          sizes.Bytes({sizes.count, sizes.half_height(), sizes.half_width()})};
}

TorchOutputs Nv12Outputs(const TorchCall& call) {
  const FrameSizes sizes = SizesOf(call);
  return {sizes.Bytes({sizes.count, sizes.height, sizes.width}),
          sizes.Bytes({sizes.count, sizes.half_height(), sizes.half_width(), 2})};
}

constexpr char kChannelNormArguments[] =
    "Tensor x, Tensor? scale=None, Tensor? shift=None, Tensor? residual=None, "
    "Tensor? bias=None, *, SymInt pad_front=0, SymInt pad_back=0, bool silu=True, float eps=1e-8";

constexpr char kYuvArguments[] =
    "Tensor frames, *, str layout=\"packed\", bool exact=False, bool bt601=False, "
    "bool full_range=False, bool center_chroma=False";

}  // namespace

std::vector<TorchOperator> VideoOperators() {
  return {
      {"channel_norm_silu", "channel_norm_silu", "Tensor(a!) out", "Tensor", kChannelNormArguments,
       PaddedOutput, RunChannelNormSilu},
      {"channel_norm_silu_sum", "channel_norm_silu", "Tensor(a!) out, Tensor(b!) sum",
       "(Tensor, Tensor)", kChannelNormArguments, PaddedOutputAndSum, RunChannelNormSiluSum},
      {"depth_to_space", "depth_to_space", "Tensor(a!) out", "Tensor",
       "Tensor x, Tensor? bias=None, Tensor? residual=None, *, bool drop_first=False",
       DoubledOutput, RunDepthToSpace},
      {"frame_convert", "frame_convert", "Tensor(a!) rgb", "Tensor",
       "Tensor frames, *, str layout=\"packed\", bool exact=False", RgbOutput, RunRgb},
      {"frame_convert_i420", "frame_convert", "Tensor(a!) y, Tensor(b!) u, Tensor(c!) v",
       "(Tensor, Tensor, Tensor)", kYuvArguments, I420Outputs, RunI420},
      {"frame_convert_nv12", "frame_convert", "Tensor(a!) y, Tensor(b!) uv", "(Tensor, Tensor)",
       kYuvArguments, Nv12Outputs, RunNv12},
  };
}

}  // namespace reel::kernels
