// SPDX-License-Identifier: Apache-2.0
// Any bytes as a picture of a request: refused in words, or a picture no larger than allowed.
#include <cstdlib>
#include <string>

#include "server/worker/media/picture_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kMaxPixels = 1 << 16;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto picture = reel::worker::DecodePicture(bytes, kMaxPixels);
  if (!picture.ok()) {
    if (!absl::IsInvalidArgument(picture.status())) std::abort();
    return 0;
  }
  const int64_t pixels = int64_t{picture->width} * picture->height;
  if (pixels <= 0 || pixels > kMaxPixels) std::abort();
  if (picture->pixels.size() != static_cast<size_t>(pixels) * 3) std::abort();
  return 0;
}
