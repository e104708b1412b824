// SPDX-License-Identifier: Apache-2.0
// Refuses a picture that is too large when its decoder asks for memory, on whichever thread.
// libav's own limit counts padding, which differs between decoders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "kernels/base/mutex.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {

// Not movable, and must outlive the decoder that it was set on.
class PixelCap {
 public:
  explicit PixelCap(int64_t max_pixels) : max_pixels_(max_pixels) {}
  PixelCap(const PixelCap&) = delete;
  PixelCap& operator=(const PixelCap&) = delete;

  // Call before the decoder is opened; uses its `opaque`.
  void SetOn(AVCodecContext& decoder);
  // "has 8000x6000 pixels, above 16000000"; nullopt if nothing was refused.
  std::optional<std::string> refusal() const;

 private:
  static int OnBuffer(AVCodecContext* decoder, AVFrame* frame, int flags);

  const int64_t max_pixels_;
  mutable Mutex mutex_;
  std::optional<std::string> refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::worker
