// SPDX-License-Identifier: Apache-2.0
// The rows of a batch that attend to their text. Where one key alone counts, as in an empty
// prompt, its weight is 1 whatever the query is: all tokens get the same answer at every step, and
// neither queries nor attention nor the projection behind it are made for them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

// A value for one call; rows are the first dimension of all tensors.
class TextRows {
 public:
  // `has_one_key` of each row.
  explicit TextRows(const std::vector<bool>& has_one_key);

  bool none_asks() const { return asking_ == 0 && all_ > 0; }
  // Those of `all` that ask, in order, and the others: a view where they lie side by side.
  at::Tensor Asking(const at::Tensor& all) const { return Of(all, true); }
  at::Tensor Known(const at::Tensor& all) const { return Of(all, false); }
  // The answers of all rows, in order, in few parts: of `asked` [A, S, D], undefined where none
  // asks, and of `known` [B - A, 1, D]: one row for all of its tokens.
  std::vector<at::Tensor> Answers(const at::Tensor& asked, const at::Tensor& known,
                                  int64_t tokens) const;

 private:
  struct Run {
    bool asks = false;
    int64_t first = 0, count = 0;
  };

  at::Tensor Of(const at::Tensor& all, bool asks) const;

  std::vector<Run> runs_;  // of rows side by side that do the same
  int64_t asking_ = 0, all_ = 0;
};

}  // namespace reel::model
