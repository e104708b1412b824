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

// Latents of both streams, fp32, at a level. The state is borrowed; of it texts, tables, pins and
// guidance count.
struct ClipCall {
  const DenoiseState* state;
  StreamTokens latents;
  NoiseLevel level;
};

// Up to three calls, one after the other, which can stop between two blocks: the texts, the prompt
// perturbed, the prompt with its streams isolated. The transformer is borrowed.
class GuidedCalls {
 public:
  GuidedCalls(const Transformer& transformer, ClipCall clip);

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
  const ClipCall clip_;
  std::vector<Kind> passes_;
  std::optional<BlockWalk> walk_;    // of the pass under way
  std::vector<StreamTokens> clean_;  // of the passes that are done
};

}  // namespace reel::model::ltx2
