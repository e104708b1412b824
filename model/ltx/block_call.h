// SPDX-License-Identifier: Apache-2.0
// Values that the transformer's blocks share in a call: the layout of its rows, and their texts,
// times and positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ltx/velocity_inputs.h"

namespace reel::model::ltx {

// The vectors that a time gives a block, in the order of its table. For self-attention and for the
// feed-forward: norm(x) * (1 + scale) + shift, then y * gate.
enum class BlockVector : int64_t { kShift, kScale, kGate, kFeedShift, kFeedScale, kFeedGate };
inline constexpr int64_t kBlockVectors = 6;

// One call of some blocks; the inputs are borrowed. Rows of videos of one size that each have one
// time have vectors of their own. Otherwise an index says which of all times a token takes: no
// vector is copied for tokens.
class BlockCall {
 public:
  // `tables` [blocks, 6, D] of the blocks from `first` on.
  BlockCall(absl::Span<const VelocityInputs> groups, TokenLayout::Order order,
            const at::Tensor& tables, size_t first);

  absl::Span<const VelocityInputs> groups() const { return groups_; }
  const TokenLayout& layout() const { return layout_; }
  // The texts of the rows that differ by text so far.
  const TextContext& text(size_t group) const { return texts_[group]; }
  const RopeTable& rope() const { return groups_.size() == 1 ? groups_[0].rope : joined_rope_; }
  // A vector of a block for each row, [B, 1, D]; for each time where time_of is defined.
  at::Tensor VectorOf(size_t block, BlockVector which) const {
    const auto before = static_cast<int64_t>(block - first_) * kBlockVectors;
    return vectors_.select(2, before + static_cast<int64_t>(which));
  }
  const at::Tensor& time_of() const { return time_of_; }  // int32 [B, S]
  // With the adapters of the rows as they are apart now, or of those that are queries (AskingRows).
  Ops ForRows(const Ops& ops) const {
    return adapters_.defined() ? ops.WithAdapters(adapters_) : ops;
  }
  Ops ForQueries(const Ops& ops) const;
  // With those of the asking rows of all groups that ask, one behind the other.
  Ops ForQuestions(const Ops& ops) const;

  // The layout's, for x and all that belongs to its rows.
  at::Tensor SplitByText(const at::Tensor& x);
  at::Tensor SplitPerturbed(const at::Tensor& x);

  int64_t exchanges = 0;  // between ranks so far

 private:
  void FollowLayout();

  const absl::Span<const VelocityInputs> groups_;
  const size_t first_;
  TokenLayout layout_;
  std::vector<TextContext> texts_;
  const at::Tensor by_time_;  // [times of all groups, 1, blocks * 6, D]

  // As long as rows are apart as they are now.
  at::Tensor vectors_, time_of_;
  at::Tensor adapters_;    // fp32 [B, S, columns]; undefined: there are none
  RopeTable joined_rope_;  // of several groups
};

}  // namespace reel::model::ltx
