// SPDX-License-Identifier: Apache-2.0
// The Content-Type of a file that is still being written.
#pragma once

#include <string>
#include <string_view>

namespace reel::front {

// video/mp4 with its codec, as a player wants to be told: from the `avcC` box among the file's
// first bytes. Without the codec where there is none.
std::string MediaTypeOfBytes(std::string_view first_bytes);

}  // namespace reel::front
