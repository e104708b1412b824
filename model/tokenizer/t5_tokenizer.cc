// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/t5_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/tokenizer/grapheme.h"
#include "model/tokenizer/utf8.h"

namespace reel::model {
namespace {

constexpr int64_t kPad = 0, kEnd = 1;
constexpr std::string_view kWordMark = "\xe2\x96\x81";  // U+2581, stands before each word

std::vector<SpecialToken> SpecialsOf(const Vocabulary& vocabulary) {
  std::vector<SpecialToken> specials;
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    const Piece& piece = vocabulary.pieces[id];
    if (piece.is_special) specials.push_back({piece.text, static_cast<int64_t>(id)});
  }
  return specials;
}

}  // namespace

T5Tokenizer::T5Tokenizer(Vocabulary vocabulary, Charsmap charsmap, std::optional<KnownWords> words)
    : charsmap_(std::move(charsmap)),
      unigram_(vocabulary.pieces),
      words_(std::move(words)),
      specials_(SpecialsOf(vocabulary)),
      size_(static_cast<int64_t>(vocabulary.pieces.size())) {}

absl::StatusOr<T5Tokenizer> T5Tokenizer::Make(Vocabulary vocabulary) {
  REEL_ASSIGN_OR_RETURN(Charsmap charsmap, Charsmap::Parse(vocabulary.charsmap));
  std::optional<KnownWords> words = KnownWords::Of(vocabulary);
  return T5Tokenizer(std::move(vocabulary), std::move(charsmap), std::move(words));
}

absl::StatusOr<T5Tokenizer> T5Tokenizer::Load(const std::string& folder) {
  REEL_ASSIGN_OR_RETURN(Vocabulary vocabulary, LoadVocabulary(folder));
  absl::StatusOr<T5Tokenizer> tokenizer = Make(std::move(vocabulary));
  if (!tokenizer.ok()) {
    return absl::Status(tokenizer.status().code(), absl::StrCat("bad tokenizer: ", folder, ": ",
                                                                tokenizer.status().message()));
  }
  return tokenizer;
}

void T5Tokenizer::EncodeWord(std::string_view word, std::vector<int64_t>& ids) const {
  std::string marked;
  if (word.substr(0, kWordMark.size()) != kWordMark) marked = kWordMark;
  marked += word;
  // A mark inside a word starts a new one.
  for (size_t begin = 0; begin < marked.size();) {
    const size_t end = std::min(marked.find(kWordMark, begin + kWordMark.size()), marked.size());
    unigram_.Encode(std::string_view(marked).substr(begin, end - begin), ids);
    begin = end;
  }
}

void T5Tokenizer::EncodePlain(std::string_view text, std::vector<int64_t>& ids) const {
  const std::string normal = charsmap_.Normalize(text);
  size_t word = 0, at = 0;
  const auto flush = [&] {
    if (at > word) EncodeWord(std::string_view(normal).substr(word, at - word), ids);
  };
  while (at < normal.size()) {
    const CodePoint c = FirstCodePoint(std::string_view(normal).substr(at));
    if (IsWhitespace(c.value)) {
      flush();
      word = at + c.bytes;
    }
    at += c.bytes;
  }
  flush();
}

std::vector<std::string> T5Tokenizer::UnknownWords(std::string_view text) const {
  if (!words_ || !IsValidUtf8(text)) return {};
  return words_->UnknownIn(charsmap_.Normalize(text));
}

absl::StatusOr<TokenIds> T5Tokenizer::Encode(std::string_view text, int length) const {
  if (length < 1) return absl::InvalidArgumentError("the token length must be at least 1");
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError("the text is not UTF-8");
  std::vector<int64_t> ids;
  specials_.Encode(
      text, [this](std::string_view plain, std::vector<int64_t>& to) { EncodePlain(plain, to); },
      ids);

  const auto size = static_cast<size_t>(length);
  TokenIds tokens;
  tokens.text_tokens = static_cast<int>(ids.size() + 1);
  tokens.truncated = ids.size() > size - 1;
  ids.resize(std::min(ids.size(), size - 1));
  ids.push_back(kEnd);
  tokens.mask.assign(ids.size(), 1);
  tokens.mask.resize(size, 0);
  ids.resize(size, kPad);
  tokens.ids = std::move(ids);
  return tokens;
}

}  // namespace reel::model
