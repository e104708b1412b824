// SPDX-License-Identifier: Apache-2.0
#include "model/text/prompt_encoder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_plan.h"

namespace reel::model {
namespace {

int64_t BytesOf(const Prompt& prompt) {
  return static_cast<int64_t>(prompt.embeddings.nbytes() + prompt.mask.nbytes());
}

// Of two plans with the same name for this a text's embeddings are the same. The profile decides
// what is not named: how sums are made, and which variants there are to choose from.
std::string TextPlanOf(const kernels::KernelPlan& plan) {
  std::string name = plan.profile();
  for (const std::string_view op : T5Encoder::kOperators) {
    name += "+";
    name += plan.Choice(op);
  }
  return name;
}

}  // namespace

absl::StatusOr<PromptEncoder::Unknown> PromptEncoder::Tokenize(Key key) const {
  const auto& [text, length, masked, plan] = key;
  REEL_ASSIGN_OR_RETURN(const TokenIds tokens, tokenizer_.Encode(text, length));
  const int64_t highest = *std::max_element(tokens.ids.begin(), tokens.ids.end());
  if (highest >= encoder_.config().vocab_size) {
    return absl::FailedPreconditionError(
        "the tokenizer has more tokens than the text encoder: the parts of the folder do not "
        "match");
  }
  Unknown unknown;
  unknown.ids = at::tensor(tokens.ids).unsqueeze(0);
  unknown.prompt.mask = at::tensor(tokens.mask).unsqueeze(0);
  unknown.prompt.summary = {tokens.text_tokens, tokenizer_.UnknownWords(text)};
  unknown.key = std::move(key);
  return unknown;
}

void PromptEncoder::EncodeTogether(const Ops& ops, absl::Span<Unknown> texts) const {
  std::vector<at::Tensor> ids, masks;
  for (const Unknown& text : texts) {
    ids.push_back(text.ids);
    masks.push_back(text.prompt.mask);
  }
  const bool masked = std::get<bool>(texts[0].key);
  const at::Tensor embeddings =
      encoder_.Encode(ops, at::cat(ids), masked ? at::cat(masks) : at::Tensor());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    // A view would keep those of all.
    texts[i].prompt.embeddings = embeddings.slice(0, row, row + 1).clone();
  }
}

absl::StatusOr<std::vector<Prompt>> PromptEncoder::Encode(const Ops& ops,
                                                          const std::vector<std::string>& texts,
                                                          int length, bool masked) {
  const std::string plan = TextPlanOf(ops.run().plan);
  std::map<std::string, Prompt> prompts;
  std::vector<Unknown> unknown;
  for (const std::string& text : texts) {
    Key key(text, length, masked, plan);
    const auto [place, is_new] = prompts.try_emplace(text);
    if (!is_new) continue;
    if (const Prompt* known = memory_.Recall(key)) {
      place->second = *known;
      ++counts_.remembered;
      continue;
    }
    ++counts_.encoded;
    REEL_ASSIGN_OR_RETURN(unknown.emplace_back(), Tokenize(std::move(key)));
  }
  const bool on_device = ops.run().stream.device >= 0;
  const bool together = on_device && ops.run().plan.profile() != "batch_invariant";
  const size_t at_once = together ? unknown.size() : 1;
  for (size_t first = 0; first < unknown.size(); first += at_once) {
    EncodeTogether(ops, absl::MakeSpan(unknown).subspan(first, at_once));
  }
  for (const Unknown& text : unknown) {
    prompts[std::get<0>(text.key)] = text.prompt;
    memory_.Remember(text.key, text.prompt, BytesOf(text.prompt));
  }
  std::vector<Prompt> in_order;
  for (const std::string& text : texts) in_order.push_back(prompts[text]);
  return in_order;
}

}  // namespace reel::model
