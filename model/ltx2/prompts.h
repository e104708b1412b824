// SPDX-License-Identifier: Apache-2.0
// Prompts to the texts of both streams, and a bounded memory of them: the tokenizer, Gemma and the
// connectors together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/generation_spec.h"
#include "model/ltx2/connectors.h"
#include "model/pipeline.h"
#include "model/text/gemma_encoder.h"
#include "model/text/text_memory.h"
#include "model/text/text_notices.h"
#include "model/tokenizer/bpe_tokenizer.h"

namespace reel::model::ltx2 {

// Without the white space at its ends, as Python's strip has it. The reference strips prompts.
std::string_view Stripped(std::string_view text);

struct ConnectedPrompt {
  Texts texts;  // one row of each
  TextSummary summary;
};

// Joins rows: one tensor for each stream.
Texts Joined(const std::vector<Texts>& rows);

// Confined to the engine thread.
class Prompts {
 public:
  Prompts(BpeTokenizer tokenizer, GemmaEncoder encoder, Connectors connectors, int64_t memory_bytes)
      : tokenizer_(std::move(tokenizer)),
        encoder_(std::move(encoder)),
        connectors_(std::move(connectors)),
        memory_(memory_bytes) {}

  // INVALID_ARGUMENT: registers do not fill texts of so many tokens.
  absl::Status CheckLength(int length) const;

  // A text of `length` tokens with the registers that fill it. Only tokens of the prompt are
  // computed by Gemma, at the places that they have behind padding.
  absl::StatusOr<ConnectedPrompt> Encode(const Ops& ops, const std::string& text, int length,
                                         BeginToken begin = BeginToken::kAsStored);
  // Encode() with the length and the begin token of a resolved request.
  absl::StatusOr<ConnectedPrompt> EncodeFor(const GenerationSpec& resolved, const Ops& ops,
                                            const std::string& text);

  int64_t parameters() const { return encoder_.parameters() + connectors_.parameters(); }
  int64_t bytes() const { return encoder_.bytes() + connectors_.bytes(); }
  const GemmaEncoder& encoder() const { return encoder_; }
  const Connectors& connectors() const { return connectors_; }
  int64_t remembered_bytes() const { return memory_.bytes(); }
  void Forget() { memory_.Forget(); }
  // Since this was asked last.
  PromptCounts TakeCounts() { return std::exchange(counts_, {}); }

 private:
  // What an entry depends on; the last is the plan's name.
  using Key = std::tuple<std::string, int, BeginToken, std::string>;

  BpeTokenizer tokenizer_;
  GemmaEncoder encoder_;
  Connectors connectors_;
  TextMemory<Key, ConnectedPrompt> memory_;
  PromptCounts counts_;
};

}  // namespace reel::model::ltx2
