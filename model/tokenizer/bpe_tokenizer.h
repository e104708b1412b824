// SPDX-License-Identifier: Apache-2.0
// Turns a prompt into token ids as Gemma's tokenizer does: byte-pair encoding of a whole prompt,
// spaces as U+2581, bytes for characters that have no piece.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tokenizer/bpe_vocabulary.h"
#include "model/tokenizer/special_tokens.h"
#include "model/tokenizer/token_ids.h"

namespace reel::model {

// Whether <bos> comes before a text.
enum class BeginToken {
  kAsStored,  // where the tokenizer's files say so
  kAlways,
};

// Immutable; may be used from any thread.
class BpeTokenizer {
 public:
  // Reads a tokenizer folder; see LoadBpeVocabulary.
  static absl::StatusOr<BpeTokenizer> Load(const std::string& folder);
  explicit BpeTokenizer(BpeVocabulary vocabulary);

  BpeTokenizer(BpeTokenizer&&) = default;
  BpeTokenizer& operator=(BpeTokenizer&&) = default;

  // Padding comes first; a text that is too long loses its end. INVALID_ARGUMENT: `text` is not
  // UTF-8, or `length` is below 1. FAILED_PRECONDITION: `begin` is kAlways, and there is no <bos>.
  // Messages never contain the text.
  absl::StatusOr<TokenIds> Encode(std::string_view text, int length,
                                  BeginToken begin = BeginToken::kAsStored) const;
  int64_t size() const { return size_; }

 private:
  struct Merge {
    uint64_t pair;  // left, right
    int32_t rank, result;
  };

  // Null: the two do not merge.
  const Merge* Find(int32_t left, int32_t right) const;
  void EncodePlain(std::string_view text, std::vector<int64_t>& ids) const;
  // The piece of a character, or those of its bytes.
  void AppendSymbols(std::string_view text, std::vector<int32_t>& symbols) const;

  std::unordered_map<char32_t, int32_t> characters_;  // characters that are pieces
  std::vector<Merge> merges_;                         // by pair
  SpecialTokens added_;
  std::array<int32_t, 256> bytes_;
  std::optional<int32_t> begin_, begin_piece_;
  int64_t size_;
};

}  // namespace reel::model
