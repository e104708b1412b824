// SPDX-License-Identifier: Apache-2.0
// The angles of a rotary embedding over tokens [1, S, D], made once per request.
#pragma once

#include <cstdint>
#include <optional>

#include "model/bridge/aten.h"

namespace reel::model {

// Confined to one thread, as the generation that it belongs to.
class RopeTable {
 public:
  // The table is factored: a few KB for a whole clip. `cos_sin`, fp32 [R, K, 2], has a row for each
  // distinct coordinate of an axis. `index`, int32 [1, S, A], says which rows a token's t, y and x,
  // or its t alone, have. Of the D / 2 pairs of channels the last A K are turned. Pair by pair the
  // axis changes first, then k. Pairs are neighbours; with `split_head`, the width of a head, they
  // are channels c and c + half of each head.
  RopeTable(at::Tensor cos_sin, at::Tensor index, int64_t width, int64_t split_head = 0);
  RopeTable() = default;

  const at::Tensor& cos_sin() const { return cos_sin_; }
  const at::Tensor& index() const { return index_; }
  int64_t split_head() const { return split_head_; }

  // cos and sin of every channel, [1, S, D]; of split heads, of every pair, [1, S, D / 2]. Only
  // libtorch's variant takes these. They are made at the first call, and have hundreds of megabytes
  // for a long clip.
  struct Dense {
    at::Tensor cos, sin;
  };
  const Dense& dense() const;

  // The table of those tokens alone.
  RopeTable Tokens(int64_t first, int64_t count) const;
  // The table on another device; the dense form is computed again there.
  RopeTable To(at::Device device) const;

 private:
  at::Tensor cos_sin_, index_;
  int64_t width_ = 0, split_head_ = 0;
  mutable std::optional<Dense> dense_;
};

}  // namespace reel::model
