// SPDX-License-Identifier: Apache-2.0
// Rows of clips of several sizes, one part behind the other in one tensor: what all that looks at
// each row by itself takes in one call.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

// A value for one call. A part is [B, S, ...], all of them together [1, N, ...]; a part that is
// alone stays as it is.
class PackedRows {
 public:
  struct Size {
    int64_t rows, tokens;
  };

  explicit PackedRows(const std::vector<Size>& parts);
  // Parts like these.
  explicit PackedRows(const std::vector<at::Tensor>& like);

  size_t parts() const { return parts_.size(); }
  int64_t rows(size_t part) const { return parts_[part].rows; }
  int64_t tokens(size_t part) const { return parts_[part].tokens; }
  at::Tensor Together(const std::vector<at::Tensor>& parts) const;
  // Views.
  at::Tensor Part(const at::Tensor& together, size_t part) const;

 private:
  struct Place {
    int64_t first, rows, tokens;
  };

  std::vector<Place> parts_;
};

}  // namespace reel::model
