// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/frame_output.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"

namespace reel::model::ltx {
namespace {

uint8_t Rounded(float value) {
  return static_cast<uint8_t>(std::clamp(std::nearbyintf(value), 0.0f, 255.0f));
}

// One frame; `rgb` is [H, W, 3].
class I420Frame {
 public:
  I420Frame(const float* rgb, int64_t height, int64_t width, uint8_t* out)
      : rgb_(rgb), height_(height), width_(width), out_(out) {}

  void Write() {
    for (int64_t i = 0; i < height_ * width_; ++i) {
      *out_++ = Rounded(16.0f + 219.0f * Luma(rgb_ + 3 * i));
    }
    WriteChroma(2, 1.8556f);
    WriteChroma(0, 1.5748f);
  }

 private:
  static float Luma(const float* p) { return 0.2126f * p[0] + 0.7152f * p[1] + 0.0722f * p[2]; }

  float Difference(int64_t y, int64_t x, int channel) const {
    const float* p = rgb_ + 3 * (y * width_ + std::clamp<int64_t>(x, 0, width_ - 1));
    return p[channel] - Luma(p);
  }

  void WriteChroma(int channel, float range) {
    for (int64_t y = 0; y < height_; y += 2) {
      for (int64_t x = 0; x < width_; x += 2) {
        float sum = 0;
        for (const int64_t row : {y, std::min(y + 1, height_ - 1)}) {
          sum += Difference(row, x - 1, channel) + 2 * Difference(row, x, channel) +
                 Difference(row, x + 1, channel);
        }
        *out_++ = Rounded(128.0f + 224.0f * (sum / 8) / range);
      }
    }
  }

  const float* rgb_;
  const int64_t height_, width_;
  uint8_t* out_;
};

}  // namespace

at::Tensor ToUnitRgb(const at::Tensor& pictures) {
  return (pictures * 0.5 + 0.5)
      .clamp(0.0, 1.0)
      .to(at::TensorOptions(at::kCPU).dtype(at::kFloat))
      .squeeze(0)
      .permute({1, 2, 3, 0})
      .contiguous();
}

at::Tensor ToRgb8(const at::Tensor& unit_rgb) { return (unit_rgb * 255.0).round().to(at::kByte); }

std::vector<uint8_t> ToI420(const at::Tensor& unit_rgb) {
  const int64_t height = unit_rgb.size(1), width = unit_rgb.size(2);
  const int64_t bytes =
      FrameBytes(FrameFormat::kI420, static_cast<int>(width), static_cast<int>(height));
  std::vector<uint8_t> planes(static_cast<size_t>(bytes * unit_rgb.size(0)));
  for (int64_t i = 0; i < unit_rgb.size(0); ++i) {
    const float* rgb = unit_rgb.data_ptr<float>() + i * height * width * 3;
    I420Frame(rgb, height, width, planes.data() + i * bytes).Write();
  }
  return planes;
}

absl::Status PushFrames(const at::Tensor& pictures, FrameSink& sink) {
  if (!at::isfinite(pictures).all().item<bool>()) {
    return absl::DataLossError("the decoder made pixels that are no numbers");
  }
  const at::Tensor rgb = ToUnitRgb(pictures);
  FramesView view = {.format = sink.format(),
                     .width = static_cast<int>(rgb.size(2)),
                     .height = static_cast<int>(rgb.size(1)),
                     .num_frames = static_cast<int>(rgb.size(0)),
                     .data = {}};
  const auto push = [&](const void* data, size_t bytes) {
    view.data = absl::MakeConstSpan(static_cast<const std::byte*>(data), bytes);
    return sink.Push(view);
  };
  if (view.format == FrameFormat::kI420) {
    const std::vector<uint8_t> planes = ToI420(rgb);
    return push(planes.data(), planes.size());
  }
  const at::Tensor frames = view.format == FrameFormat::kRgb8 ? ToRgb8(rgb) : rgb;
  return push(frames.data_ptr(), frames.nbytes());
}

}  // namespace reel::model::ltx
