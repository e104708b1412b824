// SPDX-License-Identifier: Apache-2.0
#include "model/content_type.h"

#include "model/own_sound.h"

namespace reel::model {

std::string_view PictureTypeOf(std::string_view bytes) {
  const auto at = [&](size_t offset, std::string_view magic) {
    return bytes.size() >= offset + magic.size() && bytes.substr(offset, magic.size()) == magic;
  };
  if (at(0, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (at(0, "\xff\xd8\xff")) return "image/jpeg";
  if (at(0, "RIFF") && at(8, "WEBP")) return "image/webp";
  if (at(4, "ftyp")) return "video/mp4";
  return {};
}

std::string_view ContentTypeOf(std::string_view bytes) {
  const std::string_view type = PictureTypeOf(bytes);
  return type.empty() ? SoundTypeOf(bytes) : type;
}

}  // namespace reel::model
