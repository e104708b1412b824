// SPDX-License-Identifier: Apache-2.0
// Any bytes as a sound of a request: refused in words, or no more samples than allowed.
#include <cstdlib>
#include <string>

#include "server/worker/media/sound_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kMostSamples = 1 << 14;
  constexpr reel::model::SoundFormat kFormat = {.sample_rate = 16'000, .channels = 2};
  const auto sound =
      reel::worker::DecodeSound(std::string(reinterpret_cast<const char*>(data), size), kFormat,
                                kMostSamples, [] { return absl::OkStatus(); });
  if (!sound.ok()) {
    if (!absl::IsInvalidArgument(sound.status())) std::abort();
    return 0;
  }
  if ((*sound)->samples() < 1 || (*sound)->samples() > kMostSamples) std::abort();
  for (const float sample : (*sound)->interleaved) {
    if (!(sample >= -1 && sample <= 1)) std::abort();
  }
  return 0;
}
