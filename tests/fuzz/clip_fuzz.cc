// SPDX-License-Identifier: Apache-2.0
// Any bytes as a clip of a request: refused in words, or pictures no larger than allowed.
#include <cstdlib>
#include <string>
#include <utility>

#include "server/worker/media/clip_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kMaxPixels = 1 << 16;
  constexpr int kFrames = 8;
  int frames = 0;
  const absl::Status status = reel::worker::DecodeClip(
      std::string(reinterpret_cast<const char*>(data), size), kMaxPixels,
      [] { return absl::OkStatus(); },
      [&frames](const reel::worker::ClipPicture& shown) {
        const reel::model::RgbImage& picture = shown.image;
        const int64_t pixels = int64_t{picture.width} * picture.height;
        if (pixels <= 0 || pixels > kMaxPixels) std::abort();
        if (picture.pixels.size() != static_cast<size_t>(pixels) * 3) std::abort();
        return ++frames < kFrames;
      });
  if (!status.ok() && !absl::IsInvalidArgument(status)) std::abort();
  return 0;
}
