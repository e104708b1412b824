// SPDX-License-Identifier: Apache-2.0
// The type of a condition's file, by its first bytes. The worker's decoder has the last word.
#pragma once

#include <cstddef>
#include <string_view>

namespace reel::model {

// As many first bytes as the functions below look at.
inline constexpr size_t kContentTypeBytes = 64;

// The type of a picture or clip; empty if unknown.
std::string_view PictureTypeOf(std::string_view bytes);
// The type of a picture, clip or sound; an MP4 is a clip.
std::string_view ContentTypeOf(std::string_view bytes);

}  // namespace reel::model
