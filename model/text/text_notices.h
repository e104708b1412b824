// SPDX-License-Identifier: Apache-2.0
// Notices about the texts that a model has read.
#pragma once

#include <string>
#include <vector>

#include "model/run_stats.h"

namespace reel::model {

enum class TextRole { kPrompt, kNegativePrompt };

struct TextSummary {
  int tokens = 0;                          // of the whole text, its end token included
  std::vector<std::string> unknown_words;  // where the model lists those that it knows
};

// Notes one of the texts, of which the model has read `length` tokens at most: PROMPT_CUT and
// UNKNOWN_WORDS where they apply.
void AddText(TextRole role, const TextSummary& text, int length, TextFacts& facts);

}  // namespace reel::model
