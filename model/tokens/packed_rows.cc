// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/packed_rows.h"

namespace reel::model {
namespace {

std::vector<PackedRows::Size> SizesOf(const std::vector<at::Tensor>& like) {
  std::vector<PackedRows::Size> sizes;
  for (const at::Tensor& part : like) sizes.push_back({part.size(0), part.size(1)});
  return sizes;
}

}  // namespace

PackedRows::PackedRows(const std::vector<Size>& parts) {
  int64_t first = 0;
  for (const auto& [rows, tokens] : parts) {
    parts_.push_back({first, rows, tokens});
    first += rows * tokens;
  }
}

PackedRows::PackedRows(const std::vector<at::Tensor>& like) : PackedRows(SizesOf(like)) {}

at::Tensor PackedRows::Together(const std::vector<at::Tensor>& parts) const {
  if (parts.size() == 1) return parts[0];
  std::vector<at::Tensor> rows;
  for (const at::Tensor& part : parts) rows.push_back(part.flatten(0, 1));
  return at::cat(rows).unsqueeze(0);
}

at::Tensor PackedRows::Part(const at::Tensor& together, size_t part) const {
  if (parts_.size() == 1) return together;
  const auto& [first, rows, tokens] = parts_[part];
  return together.select(0, 0).slice(0, first, first + rows * tokens).unflatten(0, {rows, tokens});
}

}  // namespace reel::model
