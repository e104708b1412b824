// SPDX-License-Identifier: Apache-2.0
// Any bytes as a tokenizer's file: it is refused, or every text becomes ids of its vocabulary.
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "model/tokenizer/t5_tokenizer.h"

namespace {

using reel::model::T5Tokenizer;

constexpr int kLength = 32;

void CheckText(const T5Tokenizer& tokenizer, const std::string& text) {
  const auto tokens = tokenizer.Encode(text, kLength);
  if (!tokens.ok() || tokens->ids.size() != kLength || tokens->mask.size() != kLength) std::abort();
  for (const int64_t id : tokens->ids) {
    if (id < 0 || id >= tokenizer.size()) std::abort();
  }
  (void)tokenizer.UnknownWords(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto vocabulary = size > 0 && data[0] == '{' ? reel::model::ParseTokenizerJson(bytes, "fuzz")
                                               : reel::model::ParseSpieceModel(bytes, "fuzz");
  if (!vocabulary.ok()) return 0;
  const auto tokenizer = T5Tokenizer::Make(*std::move(vocabulary));
  if (!tokenizer.ok()) return 0;
  CheckText(*tokenizer, "");
  CheckText(*tokenizer, "a red circle, bouncing over\tblue waves");
  // Marks, a ligature, digits of another script, a joined emoji, the mark of words itself.
  CheckText(*tokenizer, "e\u0301 \ufb01ne \u0664\u0662 \U0001f469\u200d\U0001f680 a\u2581b \u4e2d");
  return 0;
}
