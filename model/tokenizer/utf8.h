// SPDX-License-Identifier: Apache-2.0
// Decodes code points of UTF-8 text.
#pragma once

#include <cstddef>
#include <string_view>

namespace reel::model {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // 0: the text does not begin with valid UTF-8 (or is empty)
};

// The first code point of `text`. Surrogates, overlong forms and values past 10FFFF are invalid.
CodePoint FirstCodePoint(std::string_view text);

bool IsValidUtf8(std::string_view text);

}  // namespace reel::model
