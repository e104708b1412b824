// SPDX-License-Identifier: Apache-2.0
// One block of the transformer: each stream looks at itself and at its text, both look at each
// other, and each goes through a feed-forward layer.
#pragma once

#include "model/ltx2/stream_block.h"

namespace reel::model::ltx2 {

struct BlockCall {
  StreamCall video, audio;
  bool is_isolated = false;  // the streams do not look at each other
  at::Tensor adapters = {};  // as in VelocityInputs
};

struct TransformerBlock {
  StreamBlock video, audio;

  // Adds the layers that the video's tokens go through in 8 bits, but for the logits of gates.
  // Texts and sound stay as they are: they have few tokens.
  void MakeLayersIn(RowForm form);

  // Perturbed: no token of either stream looks at others of its own stream.
  StreamTokens operator()(const Ops& ops, const StreamTokens& tokens, const BlockCall& call,
                          bool is_perturbed) const;
};

// Without codes.
void VisitTensors(TransformerBlock& block, const TensorVisitor& visit);

TransformerBlock TakeTransformerBlock(Weights& weights, int64_t index,
                                      const TransformerConfig& config);

}  // namespace reel::model::ltx2
