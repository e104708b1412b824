// SPDX-License-Identifier: Apache-2.0
// Normalises text (NFKC and the trainer's other rules) by a sentencepiece model's precompiled map,
// as Hugging Face's tokenizers 0.23 does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::model {

// Immutable; may be used from any thread.
class Charsmap {
 public:
  // From `blob` as a model stores it; empty: a map that changes nothing.
  static absl::StatusOr<Charsmap> Parse(std::string_view blob);

  // `text` must be valid UTF-8.
  std::string Normalize(std::string_view text) const;

 private:
  // The replacement of the shortest key that `text` begins with; nullopt: none.
  std::optional<std::string_view> Replacement(std::string_view text) const;

  std::vector<uint32_t> trie_;  // double array
  std::string replacements_;    // NUL-terminated strings
};

}  // namespace reel::model
