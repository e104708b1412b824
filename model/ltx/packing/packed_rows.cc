// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/packing/packed_rows.h"

namespace reel::model::ltx {

PackedRows::PackedRows(const std::vector<at::Tensor>& like)
    : width_(like[0].size(2)), options_(like[0].options()) {
  for (const at::Tensor& part : like) {
    parts_.push_back({count_, part.size(0), part.size(1)});
    count_ += part.size(0) * part.size(1);
  }
}

at::Tensor PackedRows::Together(const std::vector<at::Tensor>& parts) const {
  if (parts.size() == 1) return parts[0];
  std::vector<at::Tensor> rows;
  for (const at::Tensor& part : parts) rows.push_back(part.flatten(0, 1));
  return at::cat(rows).unsqueeze(0);
}

at::Tensor PackedRows::Part(const at::Tensor& together, size_t part) const {
  if (parts_.size() == 1 || !together.defined()) return together;
  const auto& [first, rows, tokens] = parts_[part];
  return together.select(0, 0).slice(0, first, first + rows * tokens).unflatten(0, {rows, tokens});
}

Rows PackedRows::Part(const Rows& together, size_t part) const {
  return {Part(together.values, part), Part(together.scale, part)};
}

}  // namespace reel::model::ltx
