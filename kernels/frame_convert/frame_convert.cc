// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame_convert/frame_convert.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/frame_convert/frame_convert_launch.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {
    CpuVariant<FrameConvertCpu>("cpu"),
    CpuVariant<FrameConvertLoops>("loops"),
};

struct PixelSize {
  int64_t frames;
  int64_t height;
  int64_t width;
  int64_t channels;  // legal numbers: 3, or 48 for patches
};

PixelSize SizeOf(const FrameConvertArgs& args) {
  const TensorView& x = args.frames;
  switch (args.layout) {
    case FrameLayout::kPacked:
      return {x.size(0), x.size(1), x.size(2), x.size(3)};
    case FrameLayout::kPlanar:
      return {x.size(0), x.size(2), x.size(3), x.size(1)};
    case FrameLayout::kPatched:
      break;
  }
  return {x.size(0), 4 * x.size(1), 4 * x.size(2), x.size(3)};
}

void CheckPlane(const char* name, const std::optional<TensorView>& plane, bool wanted,
                std::initializer_list<int64_t> sizes, ArgumentChecks& checks) {
  checks.Require(plane.has_value() == wanted,
                 checks.ok() ? absl::StrCat("The output does not belong to the format: ", name,
                                            wanted ? " is missing" : " must be absent")
                             : "");
  if (!checks.ok() || !wanted) return;
  const auto rank = static_cast<int>(sizes.size());
  checks.Typed(name, *plane, MaskOf(Dtype::kU8), rank, rank);
  if (checks.ok()) checks.Sizes(name, *plane, sizes);
}

void CheckPlanes(const FrameConvertArgs& args, const PixelSize& size, ArgumentChecks& checks) {
  const int64_t rows = (size.height + 1) / 2;
  const int64_t columns = (size.width + 1) / 2;
  const bool yuv = args.format != FrameFormat::kRgb8;
  const bool planar = args.format == FrameFormat::kI420;
  CheckPlane("rgb", args.rgb, !yuv, {size.frames, size.height, size.width, 3}, checks);
  CheckPlane("y", args.y, yuv, {size.frames, size.height, size.width}, checks);
  CheckPlane("u", args.u, planar, {size.frames, rows, columns}, checks);
  CheckPlane("v", args.v, planar, {size.frames, rows, columns}, checks);
  CheckPlane("uv", args.uv, yuv && !planar, {size.frames, rows, columns, 2}, checks);
  for (const auto* plane : {&args.rgb, &args.y, &args.u, &args.v, &args.uv}) {
    if (plane->has_value()) checks.Output("a plane", **plane);
  }
}

FramePlane PlaneOf(const TensorView& view, int64_t channel) {
  const int64_t step = view.rank == 4 ? view.stride(3) : 0;
  return {.data = static_cast<uint8_t*>(view.data) + channel * step,
          .frame = view.stride(0),
          .row = view.stride(1),
          .column = view.stride(2)};
}

void AddPlanes(const FrameConvertArgs& args, FrameConvertParams& params) {
  if (args.format == FrameFormat::kRgb8) {
    for (int c = 0; c < 3; ++c) params.planes[c] = PlaneOf(*args.rgb, c);
    return;
  }
  params.yuv = true;
  params.planes[0] = PlaneOf(*args.y, 0);
  const bool planar = args.format == FrameFormat::kI420;
  params.planes[1] = planar ? PlaneOf(*args.u, 0) : PlaneOf(*args.uv, 0);
  params.planes[2] = planar ? PlaneOf(*args.v, 0) : PlaneOf(*args.uv, 1);
}

FrameConvertParams ParamsOf(const FrameConvertArgs& args, const PixelSize& size) {
  FrameConvertParams params;
  params.in = args.frames.data;
  params.dtype = args.frames.dtype;
  params.frames = size.frames;
  params.height = size.height;
  params.width = size.width;
  params.patched = args.layout == FrameLayout::kPatched;
  const bool planar = args.layout == FrameLayout::kPlanar;
  const int order[4] = {0, planar ? 2 : 1, planar ? 3 : 2, planar ? 1 : 3};
  for (int d = 0; d < 4; ++d) params.strides[d] = args.frames.stride(order[d]);
  params.exact = args.exact;
  params.center_chroma = args.center_chroma;
  params.red = args.bt601 ? 0.299f : 0.2126f;
  params.blue = args.bt601 ? 0.114f : 0.0722f;
  params.luma_offset = args.full_range ? 0.0f : 16.0f;
  params.luma_scale = args.full_range ? 255.0f : 219.0f;
  params.chroma_scale = args.full_range ? 255.0f : 224.0f;
  AddPlanes(args, params);
  return params;
}

}  // namespace

OpVariants FrameConvertCpuVariants() {
  return MakeVariants<FrameConvertParams>("frame_convert", kCpuVariants);
}

absl::Status FrameConvert(const FrameConvertArgs& args, const Execution& run) {
  ArgumentChecks checks("frame_convert", run.stream);
  checks.Floating("frames", args.frames, 4, 4);
  REEL_RETURN_IF_ERROR(checks.status());
  const PixelSize size = SizeOf(args);
  checks.Require(size.channels == (args.layout == FrameLayout::kPatched ? 48 : 3),
                 absl::StrCat("The channels do not fit the layout: ", Describe(args.frames)));
  CheckPlanes(args, size, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const FrameConvertParams params = ParamsOf(args, size);
  return RunOp({.cpu_variants = FrameConvertCpuVariants(),
                .dtype = params.dtype,
                .params = &params,
                .empty = args.frames.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
