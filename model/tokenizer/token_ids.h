// SPDX-License-Identifier: Apache-2.0
// A prompt as token ids.
#pragma once

#include <cstdint>
#include <vector>

namespace reel::model {

// `ids` and `mask` have the requested length: pieces, the tokenizer's prefix or suffix, and padding
// (id 0).
struct TokenIds {
  std::vector<int64_t> ids;
  std::vector<int64_t> mask;  // 0: padding
  int text_tokens = 0;        // of the whole text, with prefix or suffix
  bool truncated = false;     // there are more than fit
};

}  // namespace reel::model
