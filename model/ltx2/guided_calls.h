// SPDX-License-Identifier: Apache-2.0
// The calls of the transformer at one sigma of a clip, and what its guidance makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/bridge/ops.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/transformer.h"

namespace reel::model::ltx2 {

// Where a call stands on the way from noise.
struct NoiseLevel {
  float sigma = 0;
  float time = 0;  // as the transformer is told
};

// Up to three calls, one after the other, which can stop between two blocks: the texts, the prompt
// perturbed, the prompt with its streams isolated. Transformer and state are borrowed; of the state
// texts, tables and guidance count.
class GuidedCalls {
 public:
  // `latents` of both streams, fp32, at `level`.
  GuidedCalls(const Transformer& transformer, const DenoiseState& state, StreamTokens latents,
              const NoiseLevel& level);

  bool done() const { return clean_.size() == passes_.size(); }
  // Computes one block more.
  void Next(const Ops& ops);
  // Once done: what the guidance takes the clean latents to be.
  StreamTokens Clean() const;

 private:
  enum class Kind { kTexts, kPerturbed, kIsolated };

  VelocityInputs InputsOf(Kind kind) const;
  // What each row of a call takes the clean latents to be.
  StreamTokens CleanBy(const StreamTokens& velocity) const;

  const Transformer& transformer_;
  const DenoiseState& state_;
  const StreamTokens latents_;
  const NoiseLevel level_;
  std::vector<Kind> passes_;
  std::optional<BlockWalk> walk_;    // of the pass under way
  std::vector<StreamTokens> clean_;  // of the passes that are done
};

}  // namespace reel::model::ltx2
