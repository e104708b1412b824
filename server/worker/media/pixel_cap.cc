// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/pixel_cap.h"

#include "absl/strings/str_cat.h"

namespace reel::worker {
namespace {

// Room for padded sides and for tables that decoders allocate first.
constexpr int64_t kSlackFactor = 2, kSlackPixels = 1 << 16;

}  // namespace

void PixelCap::SetOn(AVCodecContext& decoder) {
  decoder.opaque = this;
  decoder.get_buffer2 = &OnBuffer;
  decoder.max_pixels = kSlackFactor * max_pixels_ + kSlackPixels;
}

int PixelCap::OnBuffer(AVCodecContext* decoder, AVFrame* frame, int flags) {
  auto& cap = *static_cast<PixelCap*>(decoder->opaque);
  if (int64_t{decoder->width} * decoder->height <= cap.max_pixels_) {
    return avcodec_default_get_buffer2(decoder, frame, flags);
  }
  MutexLock lock(cap.mutex_);
  cap.refusal_ = absl::StrCat("has ", decoder->width, "x", decoder->height, " pixels, above ",
                              cap.max_pixels_);
  return AVERROR(EINVAL);
}

std::optional<std::string> PixelCap::refusal() const {
  MutexLock lock(mutex_);
  return refusal_;
}

}  // namespace reel::worker
