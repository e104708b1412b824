// SPDX-License-Identifier: Apache-2.0
// The transformer's blocks, one after the other: a call of all of them, or one that stands still
// between two.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/ltx/row_places.h"

namespace reel::model::ltx {

class GroupRows;

// Of one call; blocks and the inputs of groups are borrowed. Where there are several groups,
// nothing is perturbed.
class BlockWalk {
 public:
  struct Range {
    size_t first, end;
  };

  // `tables` [blocks, 6, D] of all blocks; `x` of the groups together (PackedRows), with the rows
  // of their inputs.
  BlockWalk(const std::vector<TransformerBlock>& blocks, const at::Tensor& tables,
            std::vector<StepGroup> groups, at::Tensor x, Range range);
  ~BlockWalk();
  BlockWalk(const BlockWalk&) = delete;
  BlockWalk& operator=(const BlockWalk&) = delete;

  bool done() const { return at_ == end_; }
  void Next(const Ops& ops);
  void Finish(const Ops& ops) {
    while (!done()) Next(ops);
  }

  const std::vector<StepGroup>& groups() const { return groups_; }
  // What the blocks so far have made of a group.
  at::Tensor x(size_t group) const;

 private:
  void Enter();
  at::Tensor Parted(const at::Tensor& x);

  const std::vector<TransformerBlock>& blocks_;
  const std::vector<StepGroup> groups_;
  RowPlaces places_;
  std::vector<GroupRows> rows_;  // of groups_
  BlockInput input_;
  const size_t first_;
  size_t at_;
  const size_t end_;
};

}  // namespace reel::model::ltx
