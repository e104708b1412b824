// SPDX-License-Identifier: Apache-2.0
#include "model/frames/frame_output.h"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include "absl/types/span.h"

namespace reel::model {
namespace {

// [f, H, W, 3] in 0..1, clamped in the pictures' own type as the reference does.
at::Tensor UnitRgb(const at::Tensor& pictures) {
  return (pictures * 0.5 + 0.5)
      .clamp(0.0, 1.0)
      .to(at::kFloat)
      .squeeze(0)
      .permute({1, 2, 3, 0})
      .contiguous();
}

at::Tensor Converted(const Ops& ops, const at::Tensor& pictures, FrameFormat format) {
  switch (format) {
    case FrameFormat::kRgb8:
      return ops.Rgb8(pictures);
    case FrameFormat::kI420:
      return ops.I420(pictures);
    case FrameFormat::kRgbF32:
      break;
  }
  return UnitRgb(pictures);
}

// In one pass: a NaN is both the minimum and the maximum.
bool AllFinite(const at::Tensor& x) {
  const auto [least, greatest] = at::aminmax(x);
  return at::isfinite(greatest.to(at::kFloat) - least.to(at::kFloat)).item<bool>();
}

at::Tensor OnHost(const at::Tensor& x) {
  if (!x.is_cuda()) return x;
  // Pinned memory, which the device writes several times as fast as through a buffer of the driver;
  // libtorch caches it for the next frames.
  return at::empty(x.sizes(), x.options().device(at::kCPU).pinned_memory(true)).copy_(x);
}

}  // namespace

at::Tensor Scaled(const at::Tensor& pictures, int64_t width, int64_t height) {
  const at::Tensor frames = pictures.clamp(-1.0, 1.0).squeeze(0).transpose(0, 1).contiguous();
  return at::upsample_bilinear2d(frames, {height, width}, /*align_corners=*/false)
      .transpose(0, 1)
      .unsqueeze(0)
      .contiguous();
}

absl::Status PushFrames(const Ops& ops, const at::Tensor& pictures, FrameSink& sink) {
  const at::Tensor converted = Converted(ops, pictures, sink.format());
  if (!AllFinite(pictures)) {
    return absl::DataLossError("the decoded pixels contain NaN or Inf");
  }
  const at::Tensor frames = OnHost(converted);
  return sink.Push({.format = sink.format(),
                    .width = static_cast<int>(pictures.size(4)),
                    .height = static_cast<int>(pictures.size(3)),
                    .num_frames = static_cast<int>(pictures.size(2)),
                    .data = absl::MakeConstSpan(static_cast<const std::byte*>(frames.data_ptr()),
                                                frames.nbytes())});
}

}  // namespace reel::model
