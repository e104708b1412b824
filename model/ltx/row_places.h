// SPDX-License-Identifier: Apache-2.0
// Where the rows of a call's groups are while each group has so many, and what of times and places
// each row takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/ltx/velocity_inputs.h"
#include "model/tokens/packed_rows.h"

namespace reel::model::ltx {

// Of one call and some of its blocks; groups are borrowed. Clips of one size that each have one
// time have a batch, and vectors for each of its rows. Else rows are told by an index which of all
// times is theirs: none of a block's tables is copied for its tokens.
class RowPlaces {
 public:
  // `tables` [blocks, 6, D].
  RowPlaces(const std::vector<StepGroup>& groups, const at::Tensor& tables);

  // While each group has so many rows; what is behind the next refers to that.
  void Set(const std::vector<int64_t>& counts);
  const PackedRows& rows() const { return *rows_; }
  // What the block at that place takes; another one `follows`.
  BlockContext At(size_t block, bool follows) const;

 private:
  at::Tensor ModulationOf(size_t block) const;
  at::Tensor VectorOf() const;
  void JoinRopes();

  const std::vector<StepGroup>& groups_;
  const bool is_told_;
  const at::Tensor by_time_;  // [times of all groups, blocks, 6, D]
  at::Tensor of_all_;         // the same of every row; undefined where one clip has them all

  std::vector<int64_t> counts_;
  std::optional<PackedRows> rows_;
  at::Tensor vector_of_;
  RopeTable joined_;  // of several groups
};

}  // namespace reel::model::ltx
