// SPDX-License-Identifier: Apache-2.0
// The pieces of a T5 tokenizer, whichever file they came from.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::model {

struct Piece {
  std::string text;
  double score = 0;
  bool is_special = false;  // taken out of a text as it stands, before anything else
};

struct Vocabulary {
  std::vector<Piece> pieces;  // the index is the id
  std::string charsmap;       // sentencepiece's precompiled normalisation; empty: none
};

// `folder`/spiece.model, with the sentinels that tokenizer_config.json asks for, else
// `folder`/tokenizer.json. FAILED_PRECONDITION and NOT_FOUND name the file.
absl::StatusOr<Vocabulary> LoadVocabulary(const std::string& folder);

// The two formats. `source` names the file in messages.
absl::StatusOr<Vocabulary> ParseSpieceModel(const std::string& bytes, const std::string& source);
absl::StatusOr<Vocabulary> ParseTokenizerJson(const std::string& text, const std::string& source);

}  // namespace reel::model
