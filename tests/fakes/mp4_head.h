// SPDX-License-Identifier: Apache-2.0
// Heads of MP4 files that say how they were made, byte by byte, for tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reel::mp4 {

inline std::string Mp4BoxBytes(std::string_view type, std::string_view payload) {
  const auto size = static_cast<uint32_t>(8 + payload.size());
  std::string box;
  for (int shift = 24; shift >= 0; shift -= 8)
    box.push_back(static_cast<char>(size >> shift & 0xFF));
  return box.append(type).append(payload);
}

inline std::string OriginBoxBytes(std::string_view json) {
  const std::string_view uuid{"\x1e\x8c\xf2\x2d\xf5\xc5\x4e\xba\x97\xd1\x89\x38\x59\x58\x55\xcd",
                              16};
  return Mp4BoxBytes("uuid", std::string(uuid).append(json));
}

// A file whose box says this; its media are none that plays.
inline std::string Mp4That(std::string_view says) {
  return Mp4BoxBytes("ftyp", "isom") + Mp4BoxBytes("moov", std::string(100, 'm')) +
         OriginBoxBytes(says) + Mp4BoxBytes("moof", "") + Mp4BoxBytes("mdat", "frames");
}

}  // namespace reel::mp4
