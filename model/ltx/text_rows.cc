// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/text_rows.h"

namespace reel::model::ltx {

TextRows::TextRows(const std::vector<bool>& has_one_key)
    : all_(static_cast<int64_t>(has_one_key.size())) {
  for (int64_t row = 0; row < all_; ++row) {
    const bool asks = !has_one_key[static_cast<size_t>(row)];
    if (runs_.empty() || runs_.back().asks != asks) runs_.push_back({asks, row, 0});
    ++runs_.back().count;
    if (asks) ++asking_;
  }
}

at::Tensor TextRows::Asking(const at::Tensor& all) const {
  if (asking_ == all_) return all;
  std::vector<at::Tensor> parts;
  for (const Run& run : runs_) {
    if (run.asks) parts.push_back(all.slice(0, run.first, run.first + run.count));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts);
}

at::Tensor TextRows::WithKnown(const at::Tensor& asked, const at::Tensor& known,
                               int64_t tokens) const {
  if (asking_ == all_) return asked;
  std::vector<at::Tensor> parts;
  int64_t taken = 0;
  for (const Run& run : runs_) {
    if (run.asks) {
      parts.push_back(asked.slice(0, taken, taken + run.count));
      taken += run.count;
    } else {
      parts.push_back(
          known.slice(0, run.first, run.first + run.count).expand({run.count, tokens, -1}));
    }
  }
  return at::cat(parts);
}

}  // namespace reel::model::ltx
