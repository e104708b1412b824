// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/prompts.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/ltx2/presets.h"

namespace reel::model::ltx2 {
namespace {

// In UTF-8.
constexpr std::array<std::string_view, 29> kWhiteSpace = {
    "\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",   "\x1e",
    "\x1f",   " ",      "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
    "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
    "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

}  // namespace

std::string_view Stripped(std::string_view text) {
  const auto found = [](const auto& is_at_end) {
    return std::find_if(kWhiteSpace.begin(), kWhiteSpace.end(), is_at_end);
  };
  const auto begins = [&text](std::string_view space) { return text.starts_with(space); };
  const auto ends = [&text](std::string_view space) { return text.ends_with(space); };
  const auto* const none = kWhiteSpace.end();
  for (const auto* at = found(begins); at != none; at = found(begins)) {
    text.remove_prefix(at->size());
  }
  for (const auto* at = found(ends); at != none; at = found(ends)) {
    text.remove_suffix(at->size());
  }
  return text;
}

Texts Joined(const std::vector<Texts>& rows) {
  std::vector<at::Tensor> video, audio;
  for (const Texts& row : rows) {
    video.push_back(row.video);
    audio.push_back(row.audio);
  }
  return {at::cat(video), at::cat(audio)};
}

absl::Status Prompts::CheckLength(int length) const {
  if (connectors_.FillsEvenly(length)) return absl::OkStatus();
  const ConnectorsConfig& config = connectors_.config();
  return absl::InvalidArgumentError(
      absl::StrCat("max_text_tokens is ", length, "; the model's connectors take multiples of ",
                   std::max(config.video.num_registers, config.audio.num_registers)));
}

absl::StatusOr<ConnectedPrompt> Prompts::Encode(const Ops& ops, const std::string& text, int length,
                                                BeginToken begin) {
  const Key key(text, length, begin, ops.run().plan.name());
  if (const ConnectedPrompt* known = memory_.Recall(key)) {
    ++counts_.remembered;
    return *known;
  }
  ++counts_.encoded;
  REEL_ASSIGN_OR_RETURN(const TokenIds tokens, tokenizer_.Encode(Stripped(text), length, begin));
  const int64_t padding = std::count(tokens.mask.begin(), tokens.mask.end(), 0);
  const std::vector<int64_t> counted(tokens.ids.begin() + padding, tokens.ids.end());
  ConnectedPrompt prompt;
  // An empty text without a token in front of it is registers alone.
  if (counted.empty()) {
    prompt.texts = connectors_.OfNoText(ops, length);
  } else {
    const at::Tensor ids = at::tensor(counted).unsqueeze(0);
    prompt.texts = connectors_(ops, encoder_.Encode(ops, ids, padding), length);
  }
  prompt.summary = {tokens.text_tokens, {}};
  memory_.Remember(key, prompt,
                   static_cast<int64_t>(prompt.texts.video.nbytes() + prompt.texts.audio.nbytes()));
  return prompt;
}

absl::StatusOr<ConnectedPrompt> Prompts::EncodeFor(const GenerationSpec& resolved, const Ops& ops,
                                                   const std::string& text) {
  return Encode(ops, text, resolved.max_text_tokens,
                MarksBeginnings(resolved) ? BeginToken::kAlways : BeginToken::kAsStored);
}

}  // namespace reel::model::ltx2
