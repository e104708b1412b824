// SPDX-License-Identifier: Apache-2.0
// The Content-Type of a file that is still being written.
#pragma once

#include <string>
#include <string_view>

namespace reel::front {

// video/mp4 with its codecs, as a player wants to be told: from the boxes `avcC` and `mp4a` among
// the file's first bytes. Without codecs where there is no `avcC`.
std::string MediaTypeOfBytes(std::string_view first_bytes);

}  // namespace reel::front
