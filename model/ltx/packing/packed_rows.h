// SPDX-License-Identifier: Apache-2.0
// Rows of clips of several sizes, one part behind the other in one tensor: what a layer that looks
// at each row by itself takes in one call.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"
#include "model/bridge/row_ops.h"

namespace reel::model::ltx {

// A value for one call. A part is [B, S, ...], all of them together [1, N, ...]; a part that is
// alone stays as it is.
class PackedRows {
 public:
  // Parts like these.
  explicit PackedRows(const std::vector<at::Tensor>& like);

  size_t parts() const { return parts_.size(); }
  at::Tensor Together(const std::vector<at::Tensor>& parts) const;
  // Views.
  at::Tensor Part(const at::Tensor& together, size_t part) const;
  Rows Part(const Rows& together, size_t part) const;

  // Rows that `make(part, into)` makes one part of: for a part alone in memory of its own, else
  // `into` theirs.
  template <typename Make>
  Rows Made(RowForm form, bool fixed_scale, const Make& make) const {
    if (parts_.size() == 1) return make(size_t{0}, Rows());
    const Rows all = EmptyRows({1, count_, width_}, options_, form, fixed_scale);
    for (size_t part = 0; part < parts_.size(); ++part) make(part, Part(all, part));
    return all;
  }

 private:
  struct Place {
    int64_t first, rows, tokens;
  };

  std::vector<Place> parts_;
  int64_t count_ = 0, width_ = 0;
  at::TensorOptions options_;
};

}  // namespace reel::model::ltx
