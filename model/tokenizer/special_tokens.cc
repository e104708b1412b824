// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/special_tokens.h"

#include <algorithm>
#include <utility>

namespace reel::model {

SpecialTokens::SpecialTokens(std::vector<SpecialToken> tokens) {
  std::stable_sort(tokens.begin(), tokens.end(), [](const SpecialToken& a, const SpecialToken& b) {
    return a.text.size() > b.text.size();
  });
  for (SpecialToken& token : tokens) {
    tokens_[static_cast<unsigned char>(token.text[0])].push_back(std::move(token));
  }
}

const SpecialToken* SpecialTokens::At(std::string_view text) const {
  for (const SpecialToken& token : tokens_[static_cast<unsigned char>(text[0])]) {
    if (text.starts_with(token.text)) return &token;
  }
  return nullptr;
}

void SpecialTokens::Encode(std::string_view text, EncodePlain encode,
                           std::vector<int64_t>& ids) const {
  size_t plain = 0, at = 0;
  while (at < text.size()) {
    const SpecialToken* token = At(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    encode(text.substr(plain, at - plain), ids);
    ids.push_back(token->id);
    at += token->text.size();
    plain = at;
  }
  encode(text.substr(plain), ids);
}

}  // namespace reel::model
