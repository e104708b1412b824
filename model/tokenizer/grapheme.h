// SPDX-License-Identifier: Apache-2.0
// Clusters of a base character and its combining marks, as far as normalisation needs them.
#pragma once

#include <cstddef>
#include <string_view>

namespace reel::model {

// Unicode White_Space.
bool IsWhitespace(char32_t c);

// Bytes of the first cluster of `text`, valid UTF-8: a character and the marks and joiners behind
// it. Clusters of six bytes and more are not told apart further (Hangul, flags, emoji sequences):
// normalisation looks at their characters one by one anyway.
size_t FirstClusterBytes(std::string_view text);

}  // namespace reel::model
