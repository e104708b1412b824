// SPDX-License-Identifier: Apache-2.0
// Splits text into clusters of a base character and its combining marks, as far as normalisation
// needs them.
#pragma once

#include <cstddef>
#include <string_view>

namespace reel::model {

// Unicode White_Space.
bool IsWhitespace(char32_t c);

// The length of the first cluster of `text`, valid UTF-8: a character with its marks and joiners.
// Clusters of six bytes and more are not distinguished further (Hangul, flags, emoji sequences),
// since normalisation handles their characters one by one.
size_t FirstClusterBytes(std::string_view text);

}  // namespace reel::model
