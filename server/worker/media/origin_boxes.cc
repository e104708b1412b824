// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/origin_boxes.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reel::worker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kXmp =
    "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"sv;
constexpr std::string_view kReel =
    "\x1e\x8c\xf2\x2d\xf5\xc5\x4e\xba\x97\xd1\x89\x38\x59\x58\x55\xcd"sv;

void AppendBox(std::string_view uuid, const std::string& text, std::string& boxes) {
  if (text.empty()) return;
  const auto size = static_cast<uint32_t>(sizeof(uint32_t) + 4 + uuid.size() + text.size());
  for (int shift = 24; shift >= 0; shift -= 8) {
    boxes.push_back(static_cast<char>(size >> shift & 0xFF));
  }
  boxes += "uuid";
  boxes += uuid;
  boxes += text;
}

}  // namespace

std::string OriginBoxes(const FileOrigin& origin) {
  std::string boxes;
  AppendBox(kXmp, origin.mark, boxes);
  AppendBox(kReel, origin.origin, boxes);
  return boxes;
}

}  // namespace reel::worker
