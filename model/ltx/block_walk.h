// SPDX-License-Identifier: Apache-2.0
// The loop over the transformer's blocks, which can stop between any two.
#pragma once

#include <cstddef>
#include <vector>

#include "model/layers/layer_ring.h"
#include "model/ltx/transformer_block.h"

namespace reel::model::ltx {

// For one call; blocks and inputs are borrowed. Of several groups none is perturbed.
class BlockWalk {
 public:
  struct Range {
    size_t first, end;
  };

  // `x` of all groups (TokenLayout::Join), projected; `tables` [all blocks, 6, D].
  BlockWalk(const PlacedLayers<TransformerBlock>& blocks, const at::Tensor& tables,
            absl::Span<const VelocityInputs> groups, TokenLayout::Order order, at::Tensor x,
            Range range);

  bool done() const { return at_ == end_; }
  void Next(const Ops& ops);
  void Finish(const Ops& ops) {
    while (!done()) Next(ops);
  }

  absl::Span<const VelocityInputs> groups() const { return call_.groups(); }
  const TokenLayout& layout() const { return call_.layout(); }
  // A group's tokens behind the blocks so far.
  at::Tensor x(size_t group) const { return layout().Group(tokens_.x, group); }

 private:
  bool IsPerturbed(size_t block) const;

  const PlacedLayers<TransformerBlock>& blocks_;
  BlockCall call_;
  BlockTokens tokens_;
  size_t at_;
  const size_t end_;
};

}  // namespace reel::model::ltx
