// SPDX-License-Identifier: Apache-2.0
// Rows of a call that are still the same: first all of a clip, and then, until the first perturbed
// block, the last two of a clip alone.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

// Of one call; borrowed.
struct RowsOfClips {
  const std::vector<int64_t>& of_clip;  // empty: one each
  int64_t clips = 0;
  const std::vector<bool>& has_one_key;  // of all rows, clip by clip
  bool perturbs = false;
};

// A value for one call. Tensors have one row for each clip, or all but the last row, or all.
class SharedRows {
 public:
  enum class Order {
    kClips,        // of the first clip, then of the next
    kAskingFirst,  // those that ask their text, then the others, where clips have several
  };

  SharedRows(const RowsOfClips& rows, Order order);

  int64_t all() const { return all_; }
  // How many rows differ before the first perturbed block.
  int64_t until_perturbed() const { return until_perturbed_; }
  // Of each row, in this order.
  const std::vector<bool>& has_one_key() const { return has_one_key_; }
  bool has_several_clips() const { return clips_ > 1; }

  // With a copy of its own for each of the first `count` rows.
  at::Tensor To(const at::Tensor& x, int64_t count) const;
  // The same without copies where one clip is alone.
  at::Tensor ViewTo(const at::Tensor& x, int64_t count) const;
  // All rows, from this order to that of the clips.
  at::Tensor InOrderOfClips(const at::Tensor& x) const;

 private:
  void PutAskingFirst(const std::vector<bool>& has_one_key);

  int64_t clips_ = 0, all_ = 0, until_perturbed_ = 0;
  std::vector<int64_t> clip_of_;   // of each row
  std::vector<int64_t> place_of_;  // of each row in the order of clips; empty: its own
  std::vector<bool> has_one_key_;
};

}  // namespace reel::model
