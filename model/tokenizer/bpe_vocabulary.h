// SPDX-License-Identifier: Apache-2.0
// Reads the pieces and merges of a BPE tokenizer with byte fallback from tokenizer.json, as Gemma
// has it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/tokenizer/special_tokens.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Two neighbours that merge into one piece.
struct BpeMerge {
  int32_t left = 0, right = 0;
  int32_t result = 0;
};

struct BpeVocabulary {
  std::vector<std::string> pieces;  // the index is the id; empty: unused
  std::vector<BpeMerge> merges;     // best first
  std::vector<SpecialToken> added;
  std::array<int32_t, 256> bytes = {};  // the pieces <0x00> to <0xFF>
  std::optional<int32_t> begin;         // comes before every text
  std::optional<int32_t> begin_piece;   // <bos>, whether or not it comes before texts
};

// Reads `folder`/tokenizer.json; `add_bos_token` of tokenizer_config.json wins over its
// post-processor. NOT_FOUND and FAILED_PRECONDITION name the file, and what in it is not supported.
absl::StatusOr<BpeVocabulary> LoadBpeVocabulary(const std::string& folder);

// `source` names the file in messages.
absl::StatusOr<BpeVocabulary> ParseBpeVocabulary(std::string_view text, const std::string& source);

// What tokenizer_config.json says of <bos>. FAILED_PRECONDITION: it wants one that there is not.
absl::Status TakeTokenizerConfig(const nlohmann::json& config, const std::string& source,
                                 BpeVocabulary& vocabulary);

}  // namespace reel::model
