// SPDX-License-Identifier: Apache-2.0
// Turns a prompt into token ids as T5Tokenizer of transformers 5.23.0 does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tokenizer/charsmap.h"
#include "model/tokenizer/known_words.h"
#include "model/tokenizer/special_tokens.h"
#include "model/tokenizer/token_ids.h"
#include "model/tokenizer/unigram.h"
#include "model/tokenizer/vocabulary.h"

namespace reel::model {

// Immutable; may be used from any thread.
class T5Tokenizer {
 public:
  // Reads a tokenizer folder; see LoadVocabulary.
  static absl::StatusOr<T5Tokenizer> Load(const std::string& folder);
  static absl::StatusOr<T5Tokenizer> Make(Vocabulary vocabulary);

  T5Tokenizer(T5Tokenizer&&) = default;
  T5Tokenizer& operator=(T5Tokenizer&&) = default;

  // INVALID_ARGUMENT: `text` is not UTF-8, or `length` is below 1. Messages never contain the text.
  absl::StatusOr<TokenIds> Encode(std::string_view text, int length) const;
  // Words of a UTF-8 text that the vocabulary does not list, each once, in order; none for a
  // vocabulary of word parts.
  std::vector<std::string> UnknownWords(std::string_view text) const;
  int64_t size() const { return size_; }

 private:
  T5Tokenizer(Vocabulary vocabulary, Charsmap charsmap, std::optional<KnownWords> words);
  void EncodePlain(std::string_view text, std::vector<int64_t>& ids) const;
  void EncodeWord(std::string_view word, std::vector<int64_t>& ids) const;

  Charsmap charsmap_;
  Unigram unigram_;
  std::optional<KnownWords> words_;
  SpecialTokens specials_;
  int64_t size_ = 0;
};

}  // namespace reel::model
