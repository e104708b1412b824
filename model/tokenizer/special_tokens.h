// SPDX-License-Identifier: Apache-2.0
// Splits tokens such as a line feed out of a raw text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace reel::model {

struct SpecialToken {
  std::string text;  // not empty
  int64_t id = 0;
};

// Immutable; may be used from any thread.
class SpecialTokens {
 public:
  explicit SpecialTokens(std::vector<SpecialToken> tokens);

  using EncodePlain = absl::FunctionRef<void(std::string_view plain, std::vector<int64_t>& ids)>;
  // Appends the ids of `text`, from left to right: those of its special tokens, where the longest
  // wins, and between them those that `encode` appends.
  void Encode(std::string_view text, EncodePlain encode, std::vector<int64_t>& ids) const;

 private:
  // The longest token that `text` begins with; null: none.
  const SpecialToken* At(std::string_view text) const;

  std::array<std::vector<SpecialToken>, 256> tokens_;  // by their first byte, the longest first
};

}  // namespace reel::model
