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

// Tokens as they come to a block; to the first they come from the first projections.
struct TokensAt {
  StreamTokens tokens;
  size_t block = 0;
};

// Of one call; the blocks are borrowed.
class BlockWalk {
 public:
  // From a block on. Those whose numbers are in `perturbed` are.
  BlockWalk(const PlacedLayers<TransformerBlock>& blocks, BlockCall call, TokensAt from,
            std::vector<int64_t> perturbed)
      : blocks_(blocks),
        call_(std::move(call)),
        tokens_(std::move(from.tokens)),
        perturbed_(std::move(perturbed)),
        at_(from.block) {}

  bool done() const { return at_ == blocks_.size(); }
  // The next block's number.
  size_t at() const { return at_; }
  void Next(const Ops& ops);

  const BlockCall& call() const { return call_; }
  // Behind the blocks so far.
  const StreamTokens& tokens() const { return tokens_; }

 private:
  const PlacedLayers<TransformerBlock>& blocks_;
  BlockCall call_;
  StreamTokens tokens_;
  std::vector<int64_t> perturbed_;
  size_t at_;
};

}  // namespace reel::model::ltx2
