// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/known_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "model/tokenizer/grapheme.h"
#include "model/tokenizer/utf8.h"

namespace reel::model {
namespace {

constexpr std::string_view kWordMark = "\xe2\x96\x81";  // U+2581, stands before each word

bool IsOneCharacter(std::string_view text) { return FirstCodePoint(text).bytes == text.size(); }

// Reserved, as "<spare0>": no text contains it.
bool IsReserved(std::string_view text) { return text.front() == '<' && text.back() == '>'; }

// Characters that may follow a word without changing it.
std::string_view WithoutMarksBehind(std::string_view word) {
  while (!word.empty() && absl::ascii_ispunct(static_cast<unsigned char>(word.back()))) {
    word.remove_suffix(1);
  }
  return word;
}

}  // namespace

std::optional<KnownWords> KnownWords::Of(const Vocabulary& vocabulary) {
  KnownWords known;
  for (const Piece& piece : vocabulary.pieces) {
    const std::string_view text = piece.text;
    if (piece.is_special || IsOneCharacter(text) || IsReserved(text)) continue;
    if (text.substr(0, kWordMark.size()) != kWordMark) return std::nullopt;
    known.words_.emplace(text.substr(kWordMark.size()));
  }
  if (known.words_.empty()) return std::nullopt;
  return known;
}

std::vector<std::string> KnownWords::UnknownIn(std::string_view normal) const {
  std::vector<std::string> unknown;
  size_t begin = 0, at = 0;
  const auto end_word = [&] {
    const std::string word(WithoutMarksBehind(normal.substr(begin, at - begin)));
    const bool listed = word.empty() || words_.contains(word);
    if (!listed && std::count(unknown.begin(), unknown.end(), word) == 0) unknown.push_back(word);
  };
  while (at < normal.size()) {
    const CodePoint c = FirstCodePoint(normal.substr(at));
    if (IsWhitespace(c.value)) {
      end_word();
      begin = at + c.bytes;
    }
    at += std::max<size_t>(1, c.bytes);
  }
  end_word();
  return unknown;
}

}  // namespace reel::model
