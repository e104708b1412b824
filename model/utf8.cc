// SPDX-License-Identifier: Apache-2.0
#include "model/utf8.h"

#include <cstddef>

namespace reel::model {
namespace {

constexpr size_t kMaxQuotedBytes = 64;

unsigned char Byte(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Length of the well-formed sequence at the start of `text`; 0 when there is none.
size_t SequenceLength(std::string_view text) {
  const unsigned char lead = Byte(text, 0);
  if (lead < 0x80) return 1;
  size_t length = 0;
  // The second byte alone tells overlong forms, surrogates and too large values.
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() < length) return 0;
  if (Byte(text, 1) < low || Byte(text, 1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((Byte(text, i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::optional<int64_t> CountCharacters(std::string_view text) {
  int64_t characters = 0;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return std::nullopt;
    text.remove_prefix(length);
    ++characters;
  }
  return characters;
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, kMaxQuotedBytes)) {
    out += c >= 0x20 && c < 0x7F && c != '\'' ? c : '?';
  }
  return out + (text.size() > kMaxQuotedBytes ? "...'" : "'");
}

}  // namespace reel::model
