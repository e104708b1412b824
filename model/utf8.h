// SPDX-License-Identifier: Apache-2.0
// Text as it comes from outside: is it UTF-8, and how many characters has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reel::model {

// Code points in `text`; nullopt when it is not well-formed UTF-8 (overlong forms, surrogates and
// values past U+10FFFF are not).
std::optional<int64_t> CountCharacters(std::string_view text);

// For messages: what a caller wrote, in quotes, at most 64 bytes of it, with nothing but printable
// ASCII.
std::string Quoted(std::string_view text);

}  // namespace reel::model
