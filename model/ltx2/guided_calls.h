// SPDX-License-Identifier: Apache-2.0
// The calls of the transformer at one sigma of a clip or of several, and what their guidance makes
// of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/bridge/ops.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/transformer_ranks.h"

namespace reel::model::ltx2 {

// Where a call stands on the way from noise.
struct NoiseLevel {
  float sigma = 0;
  float time = 0;  // as the transformer is told
};

// Latents of both streams, fp32, at a level. The state is borrowed; of it texts, tables, pins and
// guidance count.
struct ClipCall {
  const DenoiseState* state;
  StreamTokens latents;
  NoiseLevel level;
  at::Tensor adapters = {};  // fp32 [1, 1, columns], for this call; undefined: it has none
};

// Up to three calls for clips that can share them (CanShareStep), one after the other: the texts,
// the prompts perturbed, the prompts with isolated streams. A clip is in those that its guidance
// wants. Perturbed prompts are computed from the first perturbed block on: up to there they are the
// first call's. Calls can stop between two blocks. The transformers are borrowed.
class GuidedCalls {
 public:
  GuidedCalls(TransformerRanks ranks, std::vector<ClipCall> clips);

  bool done() const { return clean_.size() == passes_.size(); }
  // Computes one block more.
  void Next(const Ops& ops);
  // Once done: what each clip's guidance takes the clean latents to be.
  std::vector<StreamTokens> Clean() const;

 private:
  enum class Kind { kTexts, kPerturbed, kIsolated };
  struct Pass {
    Kind kind;
    std::vector<size_t> clips;  // numbers of those that are in it
  };

  const PreparedTexts& TextsOf(Kind kind, size_t clip) const;
  int64_t RowsOf(Kind kind, size_t clip) const;
  VelocityInputs InputsOf(const Pass& pass) const;
  CallWalk WalkOf(const Ops& ops, const Pass& pass);
  // Whether some clips are perturbed: their pass follows that of the texts.
  bool perturbs() const { return passes_.size() > 1 && passes_[1].kind == Kind::kPerturbed; }
  // Of the perturbed pass, from the walk of the texts.
  StreamTokens PromptsOf(const StreamTokens& texts) const;
  StreamTimes TimesOf(const Pass& pass, Pins DenoiseState::* pins,
                      at::Tensor StreamTokens::* tokens, const StreamTimes& times) const;
  // What each row of a clip takes its clean latents to be, clip by clip.
  std::vector<StreamTokens> CleanBy(const Pass& pass, const StreamTokens& velocity) const;
  StreamTokens CleanOf(size_t clip) const;

  const TransformerRanks ranks_;
  const std::vector<ClipCall> clips_;
  std::vector<Pass> passes_;
  std::optional<CallWalk> walk_;                  // of the pass under way
  TokensAt apart_;                                // where its prompts begin to differ
  std::vector<std::vector<StreamTokens>> clean_;  // of the passes that are done, of each clip in it
};

}  // namespace reel::model::ltx2
