// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/text_rows.h"

namespace reel::model {
namespace {

// Each part is a call of what takes the answers; of more, putting them together costs less.
constexpr size_t kMostParts = 3;

}  // namespace

TextRows::TextRows(const std::vector<bool>& has_one_key)
    : all_(static_cast<int64_t>(has_one_key.size())) {
  for (int64_t row = 0; row < all_; ++row) {
    const bool asks = !has_one_key[static_cast<size_t>(row)];
    if (runs_.empty() || runs_.back().asks != asks) runs_.push_back({asks, row, 0});
    ++runs_.back().count;
    if (asks) ++asking_;
  }
}

at::Tensor TextRows::Of(const at::Tensor& all, bool asks) const {
  std::vector<at::Tensor> parts;
  for (const Run& run : runs_) {
    if (run.asks == asks) parts.push_back(all.slice(0, run.first, run.first + run.count));
  }
  if (parts.empty()) return all.slice(0, 0, 0);
  if (parts.size() == 1) return parts[0].size(0) == all.size(0) ? all : parts[0];
  return at::cat(parts);
}

std::vector<at::Tensor> TextRows::Answers(const at::Tensor& asked, const at::Tensor& known,
                                          int64_t tokens) const {
  std::vector<at::Tensor> parts;
  int64_t asking = 0, other = 0;
  for (const Run& run : runs_) {
    if (run.asks) {
      parts.push_back(asked.slice(0, asking, asking + run.count));
      asking += run.count;
    } else {
      parts.push_back(known.slice(0, other, other + run.count).expand({run.count, tokens, -1}));
      other += run.count;
    }
  }
  return parts.size() > kMostParts ? std::vector{at::cat(parts)} : parts;
}

}  // namespace reel::model
