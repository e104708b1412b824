// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/shared_rows.h"

#include <algorithm>

namespace reel::model {
namespace {

at::Tensor Expanded(const at::Tensor& x, int64_t rows) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[0] = rows;
  return x.expand(sizes);
}

// Those rows of x, in one pass: neighbours are one part.
at::Tensor Gathered(const at::Tensor& x, const std::vector<int64_t>& rows, size_t count) {
  std::vector<at::Tensor> parts;
  for (size_t at = 0; at < count;) {
    size_t end = at + 1;
    while (end < count && rows[end] == rows[end - 1] + 1) ++end;
    parts.push_back(x.slice(0, rows[at], rows[end - 1] + 1));
    at = end;
  }
  return at::cat(parts);
}

}  // namespace

SharedRows::SharedRows(const RowsOfClips& rows, Order order)
    : clips_(rows.clips),
      all_(static_cast<int64_t>(rows.has_one_key.size())),
      has_one_key_(rows.has_one_key) {
  for (int64_t clip = 0; clip < clips_; ++clip) {
    const int64_t own = rows.of_clip.empty() ? 1 : rows.of_clip[static_cast<size_t>(clip)];
    clip_of_.insert(clip_of_.end(), static_cast<size_t>(own), clip);
  }
  until_perturbed_ = clips_ == 1 && all_ > 1 && rows.perturbs ? all_ - 1 : all_;
  // Where each clip has one row, nothing shows whether they are sorted yet.
  const bool may_sort = clips_ > 1 && all_ > clips_ && !rows.perturbs;
  const bool is_sorted = std::is_sorted(has_one_key_.begin(), has_one_key_.end());
  if (order == Order::kAskingFirst && may_sort && !is_sorted) PutAskingFirst(rows.has_one_key);
}

void SharedRows::PutAskingFirst(const std::vector<bool>& has_one_key) {
  const std::vector<int64_t> clip_of = clip_of_;
  place_of_.resize(clip_of.size());
  size_t at = 0;
  for (const bool one_key : {false, true}) {
    for (size_t row = 0; row < clip_of.size(); ++row) {
      if (has_one_key[row] != one_key) continue;
      place_of_[row] = static_cast<int64_t>(at);
      clip_of_[at] = clip_of[row];
      has_one_key_[at] = one_key;
      ++at;
    }
  }
}

at::Tensor SharedRows::To(const at::Tensor& x, int64_t count) const {
  if (x.size(0) == count) return x;
  if (x.size(0) != clips_) return at::cat({x, x.slice(0, x.size(0) - 1)});
  if (clips_ == 1) return Expanded(x, count).contiguous();
  return Gathered(x, clip_of_, static_cast<size_t>(count));
}

at::Tensor SharedRows::ViewTo(const at::Tensor& x, int64_t count) const {
  return clips_ == 1 && x.size(0) == 1 ? Expanded(x, count) : To(x, count);
}

at::Tensor SharedRows::InOrderOfClips(const at::Tensor& x) const {
  return place_of_.empty() ? x : Gathered(x, place_of_, place_of_.size());
}

}  // namespace reel::model
