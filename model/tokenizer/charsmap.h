// SPDX-License-Identifier: Apache-2.0
// Normalisation of text (NFKC and whatever else the trainer chose) by a sentencepiece model's
// precompiled map, as Hugging Face's tokenizers 0.23 applies it.
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
  // Of `blob` as a model stores it; empty: a map that changes nothing.
  static absl::StatusOr<Charsmap> Parse(std::string_view blob);

  // `text` is valid UTF-8.
  std::string Normalize(std::string_view text) const;

 private:
  // What the shortest key that `text` begins with becomes; nullopt: no key does.
  std::optional<std::string_view> Replacement(std::string_view text) const;

  std::vector<uint32_t> trie_;  // double array
  std::string replacements_;    // NUL-terminated, one behind the other
};

}  // namespace reel::model
