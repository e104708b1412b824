// SPDX-License-Identifier: Apache-2.0
// The words that a model knows, if its vocabulary lists them: each is one piece, and other words
// are spelled letter by letter. Vocabularies of word parts, as large models have, list no words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/tokenizer/vocabulary.h"

namespace reel::model {

// Immutable; may be used from any thread.
class KnownWords {
 public:
  // Nothing for a vocabulary with parts of words.
  static std::optional<KnownWords> Of(const Vocabulary& vocabulary);

  // The unlisted words of a normalised text, each once, in order.
  std::vector<std::string> UnknownIn(std::string_view normal) const;

 private:
  std::unordered_set<std::string> words_;  // without their marks
};

}  // namespace reel::model
