// SPDX-License-Identifier: Apache-2.0
// Any bytes as a tokenizer's file: it is refused, or every text becomes ids of its vocabulary.
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "model/tokenizer/bpe_tokenizer.h"
#include "model/tokenizer/t5_tokenizer.h"

namespace {

using reel::model::BpeTokenizer;
using reel::model::T5Tokenizer;

constexpr int kLength = 32;

template <typename Tokenizer>
void CheckText(const Tokenizer& tokenizer, const std::string& text) {
  const auto tokens = tokenizer.Encode(text, kLength);
  if (!tokens.ok() || tokens->ids.size() != kLength || tokens->mask.size() != kLength) std::abort();
  for (const int64_t id : tokens->ids) {
    if (id < 0 || id >= tokenizer.size()) std::abort();
  }
}

template <typename Tokenizer>
void CheckTexts(const Tokenizer& tokenizer) {
  CheckText(tokenizer, "");
  CheckText(tokenizer, "a red circle, bouncing over\tblue waves");
  // Marks, a ligature, digits of another script, a joined emoji, the mark of words itself.
  CheckText(tokenizer, "e\u0301 \ufb01ne \u0664\u0662 \U0001f469\u200d\U0001f680 a\u2581b \u4e2d");
}

void CheckBpe(const std::string& bytes) {
  auto vocabulary = reel::model::ParseBpeVocabulary(bytes, "fuzz");
  if (vocabulary.ok()) CheckTexts(BpeTokenizer(*std::move(vocabulary)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == '{') CheckBpe(bytes);
  auto vocabulary = size > 0 && data[0] == '{' ? reel::model::ParseTokenizerJson(bytes, "fuzz")
                                               : reel::model::ParseSpieceModel(bytes, "fuzz");
  if (!vocabulary.ok()) return 0;
  const auto tokenizer = T5Tokenizer::Make(*std::move(vocabulary));
  if (!tokenizer.ok()) return 0;
  CheckTexts(*tokenizer);
  (void)tokenizer->UnknownWords("a red circle");
  return 0;
}
