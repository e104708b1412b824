// SPDX-License-Identifier: Apache-2.0
// The Content-Type of a file that is still being written.
#pragma once

#include <string>
#include <string_view>

namespace reel::front {

// video/mp4 with the codecs that players need to know, from the boxes `avcC` and `mp4a` in the
// file's first bytes. Without codecs if there is no `avcC`.
std::string MediaTypeOfBytes(std::string_view first_bytes);

}  // namespace reel::front
