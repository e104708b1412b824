// SPDX-License-Identifier: Apache-2.0
// Prompts to embeddings, and a bounded memory of them.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/bridge/ops.h"
#include "model/pipeline.h"
#include "model/text/t5_encoder.h"
#include "model/text/text_memory.h"
#include "model/text/text_notices.h"
#include "model/tokenizer/t5_tokenizer.h"

namespace reel::model {

struct Prompt {
  at::Tensor embeddings;  // [1, L, width]
  at::Tensor mask;        // [1, L] int64
  TextSummary summary;
};

// Confined to the engine thread.
class PromptEncoder {
 public:
  PromptEncoder(T5Tokenizer tokenizer, T5Encoder encoder, int64_t cache_bytes)
      : tokenizer_(std::move(tokenizer)), encoder_(std::move(encoder)), memory_(cache_bytes) {}

  // One for each text. `masked`: padding is not attended to (condition pipeline); else it is, as in
  // the others. On a device all texts that are not remembered are encoded in one call, which adds
  // in another order than a text alone. On a CPU, and under a plan that forbids this, one after the
  // other.
  absl::StatusOr<std::vector<Prompt>> Encode(const Ops& ops, const std::vector<std::string>& texts,
                                             int length, bool masked);

  const T5Encoder& encoder() const { return encoder_; }
  int64_t cached_bytes() const { return memory_.bytes(); }
  void Forget() { memory_.Forget(); }
  // Since this was asked last.
  PromptCounts TakeCounts() { return std::exchange(counts_, {}); }

 private:
  // What an entry's content depends on: text, length, masked, the plan as far as texts go.
  using Key = std::tuple<std::string, int, bool, std::string>;
  // A text that is to be encoded.
  struct Unknown {
    Key key;
    at::Tensor ids;  // [1, L]
    Prompt prompt;   // without embeddings yet
  };

  absl::StatusOr<Unknown> Tokenize(Key key) const;
  void EncodeTogether(const Ops& ops, absl::Span<Unknown> texts) const;

  T5Tokenizer tokenizer_;
  T5Encoder encoder_;
  TextMemory<Key, Prompt> memory_;
  PromptCounts counts_;
};

}  // namespace reel::model
