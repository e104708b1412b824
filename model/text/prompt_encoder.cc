// SPDX-License-Identifier: Apache-2.0
#include "model/text/prompt_encoder.h"

#include <algorithm>
#include <utility>

#include "kernels/base/status_macros.h"

namespace reel::model {
namespace {

int64_t BytesOf(const Prompt& prompt) {
  return static_cast<int64_t>(prompt.embeddings.nbytes() + prompt.mask.nbytes());
}

}  // namespace

absl::StatusOr<Prompt> PromptEncoder::Encode(const Ops& ops, const std::string& text, int length,
                                             bool masked) {
  Key key(text, length, masked);
  if (const auto found = index_.find(key); found != index_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front().second;
  }
  REEL_ASSIGN_OR_RETURN(const TokenIds tokens, tokenizer_.Encode(text, length));
  const int64_t highest = *std::max_element(tokens.ids.begin(), tokens.ids.end());
  if (highest >= encoder_.config().vocab_size) {
    return absl::FailedPreconditionError(
        "the tokenizer has more tokens than the text encoder: the parts of the folder do not "
        "match");
  }
  Prompt prompt;
  prompt.summary = {tokens.text_tokens, tokenizer_.UnknownWords(text)};
  const at::Tensor ids = at::tensor(tokens.ids).unsqueeze(0);
  prompt.mask = at::tensor(tokens.mask).unsqueeze(0);
  prompt.embeddings = encoder_.Encode(ops, ids, masked ? prompt.mask : at::Tensor());
  Remember(std::move(key), prompt);
  return prompt;
}

void PromptEncoder::Remember(Key key, const Prompt& prompt) {
  if (BytesOf(prompt) > limit_) return;
  entries_.emplace_front(key, prompt);
  index_[std::move(key)] = entries_.begin();
  bytes_ += BytesOf(prompt);
  while (bytes_ > limit_) {
    bytes_ -= BytesOf(entries_.back().second);
    index_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

}  // namespace reel::model
