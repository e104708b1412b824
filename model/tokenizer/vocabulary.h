// SPDX-License-Identifier: Apache-2.0
// Reads the pieces of a T5 tokenizer from either kind of file.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::model {

struct Piece {
  std::string text;
  double score = 0;
  bool is_special = false;  // split out of the raw text, before anything else
};

struct Vocabulary {
  std::vector<Piece> pieces;  // the index is the id
  std::string charsmap;       // sentencepiece's precompiled normalisation; empty: none
};

// Reads `folder`/spiece.model, with the sentinels that tokenizer_config.json asks for, else
// `folder`/tokenizer.json. FAILED_PRECONDITION and NOT_FOUND name the file.
absl::StatusOr<Vocabulary> LoadVocabulary(const std::string& folder);

// The two formats. `source` names the file in messages.
absl::StatusOr<Vocabulary> ParseSpieceModel(const std::string& bytes, const std::string& source);
absl::StatusOr<Vocabulary> ParseTokenizerJson(const std::string& text, const std::string& source);

}  // namespace reel::model
