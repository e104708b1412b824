// SPDX-License-Identifier: Apache-2.0
// A prompt as token ids.
#pragma once

#include <cstdint>
#include <vector>

namespace reel::model {

// `ids` and `mask` have the length that was asked for: pieces, what the tokenizer puts in front or
// behind, padding (id 0).
struct TokenIds {
  std::vector<int64_t> ids;
  std::vector<int64_t> mask;  // 0: padding
  int text_tokens = 0;        // of the whole text, with what is put in front or behind
  bool truncated = false;     // those are more than fit
};

}  // namespace reel::model
