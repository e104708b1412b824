// SPDX-License-Identifier: Apache-2.0
// A WAV file of a tone, for tests of requests with a sound.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace reel::testing {

// 16 bits, one channel, a quarter of the loudest.
inline std::string WavFile(double hertz, double seconds, int rate = 16'000) {
  const auto number = [](uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::string samples;
  for (int i = 0; i < seconds * rate; ++i) {
    const double angle = 2 * 3.14159265358979 * hertz * i / rate;
    samples += number(static_cast<uint32_t>(std::lround(8191 * std::sin(angle))), 2);
  }
  const auto size = static_cast<uint32_t>(samples.size()),
             of_a_second = static_cast<uint32_t>(rate);
  return "RIFF" + number(36 + size, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) + number(1, 2) +
         number(of_a_second, 4) + number(2 * of_a_second, 4) + number(2, 2) + number(16, 2) +
         "data" + number(size, 4) + samples;
}

}  // namespace reel::testing
