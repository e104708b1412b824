// SPDX-License-Identifier: Apache-2.0
// The loop over the transformer's blocks, which can stop between any two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/layers/layer_ring.h"
#include "model/ltx2/transformer_block.h"

namespace reel::model::ltx2 {

// Of one call; the blocks are borrowed.
class BlockWalk {
 public:
  // Behind the first projections. Blocks whose numbers are in `perturbed` are.
  BlockWalk(const PlacedLayers<TransformerBlock>& blocks, BlockCall call, StreamTokens tokens,
            std::vector<int64_t> perturbed)
      : blocks_(blocks),
        call_(std::move(call)),
        tokens_(std::move(tokens)),
        perturbed_(std::move(perturbed)) {}

  bool done() const { return at_ == blocks_.size(); }
  void Next(const Ops& ops);

  const BlockCall& call() const { return call_; }
  // Behind the blocks so far.
  const StreamTokens& tokens() const { return tokens_; }

 private:
  const PlacedLayers<TransformerBlock>& blocks_;
  BlockCall call_;
  StreamTokens tokens_;
  std::vector<int64_t> perturbed_;
  size_t at_ = 0;
};

}  // namespace reel::model::ltx2
