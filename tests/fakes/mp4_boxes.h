// SPDX-License-Identifier: Apache-2.0
// The top-level boxes of an MP4 file in memory, for tests that look into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reel::mp4 {

struct Mp4Box {
  std::string type;  // e.g. "moov"
  std::string uuid;  // 16 bytes, of a box of the type uuid; else empty
  std::string_view payload;
  size_t begin = 0, end = 0;  // in the file
};

// Up to the first box that is not whole.
inline std::vector<Mp4Box> BoxesOf(std::string_view file) {
  std::vector<Mp4Box> boxes;
  for (size_t at = 0; at + 8 <= file.size();) {
    size_t size = 0;
    for (size_t i = at; i < at + 4; ++i) size = size << 8 | static_cast<uint8_t>(file[i]);
    if (size < 8 || size > file.size() - at) break;
    Mp4Box box{std::string(file.substr(at + 4, 4)), "", file.substr(at + 8, size - 8), at,
               at + size};
    if (box.type == "uuid" && box.payload.size() >= 16) {
      box.uuid = box.payload.substr(0, 16);
      box.payload.remove_prefix(16);
    }
    boxes.push_back(std::move(box));
    at += size;
  }
  return boxes;
}

// "ftyp moov moof mdat".
inline std::string TypesOf(std::string_view file) {
  std::string types;
  for (const Mp4Box& box : BoxesOf(file)) types += (types.empty() ? "" : " ") + box.type;
  return types;
}

// The payload of the box with this UUID; empty if the file has none.
inline std::string UuidPayload(std::string_view file, std::string_view uuid) {
  for (const Mp4Box& box : BoxesOf(file)) {
    if (box.uuid == uuid) return std::string(box.payload);
  }
  return "";
}

inline constexpr std::string_view kXmpUuid{
    "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac", 16};
inline constexpr std::string_view kOriginUuid{
    "\x1e\x8c\xf2\x2d\xf5\xc5\x4e\xba\x97\xd1\x89\x38\x59\x58\x55\xcd", 16};

}  // namespace reel::mp4
