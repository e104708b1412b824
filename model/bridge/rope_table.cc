// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/rope_table.h"

#include <utility>

#include "model/bridge/upload.h"

namespace reel::model {

RopeTable::RopeTable(at::Tensor cos_sin, at::Tensor index, int64_t width, int64_t split_head)
    : cos_sin_(std::move(cos_sin)),
      index_(std::move(index)),
      width_(width),
      split_head_(split_head) {}

const RopeTable::Dense& RopeTable::dense() const {
  if (dense_.has_value()) return *dense_;
  const at::Tensor rows = at::index_select(cos_sin_, 0, index_.flatten())
                              .unflatten(0, {-1, index_.size(2)});  // [S, A, K, 2]
  const auto channels = [&](int64_t which, double unturned) {
    const at::Tensor turned = rows.select(3, which).transpose(1, 2).flatten(1);  // [S, AK]
    const int64_t rest = width_ / 2 - turned.size(1);
    const at::Tensor front = at::full({turned.size(0), rest}, unturned, turned.options());
    const at::Tensor pairs = at::cat({front, turned}, -1).unsqueeze(0);
    return split_head_ > 0 ? pairs : pairs.repeat_interleave(2, -1);
  };
  return dense_.emplace(Dense{channels(0, 1), channels(1, 0)});
}

RopeTable RopeTable::Tokens(int64_t first, int64_t count) const {
  return {cos_sin_, index_.slice(1, first, first + count), width_, split_head_};
}

RopeTable RopeTable::To(at::Device device) const {
  return {Upload(cos_sin_, device), Upload(index_, device), width_, split_head_};
}

}  // namespace reel::model
