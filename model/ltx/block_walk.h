// SPDX-License-Identifier: Apache-2.0
// The transformer's blocks, one after the other: a call of all of them, or one that stands still
// between two.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/ltx/velocity_inputs.h"

namespace reel::model::ltx {

class GroupRows;

// Of one call; blocks and the inputs of groups are borrowed. Where there are several groups,
// nothing is perturbed.
class BlockWalk {
 public:
  struct Range {
    size_t first, end;
  };

  // `tables` [blocks, 6, D] of all blocks; `x` of each group, whose rows are those of the block in
  // front.
  BlockWalk(const std::vector<TransformerBlock>& blocks, const at::Tensor& tables,
            std::vector<StepGroup> groups, std::vector<at::Tensor> x, Range range);
  ~BlockWalk();
  BlockWalk(const BlockWalk&) = delete;
  BlockWalk& operator=(const BlockWalk&) = delete;

  bool done() const { return at_ == end_; }
  void Next(const Ops& ops);
  void Finish(const Ops& ops) {
    while (!done()) Next(ops);
  }

  const std::vector<StepGroup>& groups() const { return groups_; }
  // What the blocks so far have made.
  const std::vector<at::Tensor>& x() const { return input_.x; }

 private:
  const std::vector<TransformerBlock>& blocks_;
  const std::vector<StepGroup> groups_;
  std::vector<GroupRows> rows_;  // of groups_
  BlockInput input_;
  size_t at_;
  const size_t end_;
};

}  // namespace reel::model::ltx
