// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

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

constexpr char kYuvArguments[] =
    "Tensor frames, *, str layout=\"packed\", bool exact=False, bool bt601=False, "
    "bool full_range=False, bool center_chroma=False";

}  // namespace

std::vector<TorchOperator> VideoOperators() {
  return {
      {"frame_convert", "frame_convert", "Tensor(a!) rgb", "Tensor",
       "Tensor frames, *, str layout=\"packed\", bool exact=False", RgbOutput, RunRgb},
      {"frame_convert_i420", "frame_convert", "Tensor(a!) y, Tensor(b!) u, Tensor(c!) v",
       "(Tensor, Tensor, Tensor)", kYuvArguments, I420Outputs, RunI420},
      {"frame_convert_nv12", "frame_convert", "Tensor(a!) y, Tensor(b!) uv", "(Tensor, Tensor)",
       kYuvArguments, Nv12Outputs, RunNv12},
  };
}

}  // namespace reel::kernels
