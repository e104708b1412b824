// SPDX-License-Identifier: Apache-2.0
#include "model/text/text_notices.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace reel::model {
namespace {

// A notice is a sentence, not a copy of the prompt.
constexpr size_t kMostWords = 8;
constexpr size_t kMostBytes = 32;

std::string Shortened(const std::string& word) {
  if (word.size() <= kMostBytes) return word;
  size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80) --end;
  return word.substr(0, end) + "...";
}

std::string Listed(const std::vector<std::string>& words) {
  std::string text;
  const size_t shown = std::min(words.size(), kMostWords);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "\"", Shortened(words[i]), "\"");
  }
  if (shown < words.size()) absl::StrAppend(&text, " and ", words.size() - shown, " more");
  return text;
}

}  // namespace

void AddText(TextRole role, const TextSummary& text, int length, TextFacts& facts) {
  const bool is_prompt = role == TextRole::kPrompt;
  const char* name = is_prompt ? "prompt" : "negative prompt";
  (is_prompt ? facts.prompt_tokens : facts.negative_prompt_tokens) = text.tokens;
  if (text.tokens > length) {
    facts.notices.push_back({"PROMPT_CUT", absl::StrCat("The ", name, " has ", text.tokens,
                                                        " tokens, and the model reads ", length,
                                                        "; what is behind them was cut off.")});
  }
  if (!text.unknown_words.empty()) {
    facts.notices.push_back(
        {"UNKNOWN_WORDS",
         absl::StrCat("The model does not know these words of the ", name,
                      ", and reads them letter by letter: ", Listed(text.unknown_words), ".")});
  }
}

}  // namespace reel::model
