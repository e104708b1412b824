// SPDX-License-Identifier: Apache-2.0
// The words that a model knows, where its vocabulary lists them: each is one piece, and anything
// else is spelled letter by letter. Vocabularies of parts of words, as the big models have, know no
// such list.
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

  // Those of a normalised text that are not listed, each once, in its order.
  std::vector<std::string> UnknownIn(std::string_view normal) const;

 private:
  std::unordered_set<std::string> words_;  // without their marks
};

}  // namespace reel::model
