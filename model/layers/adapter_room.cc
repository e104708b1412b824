// SPDX-License-Identifier: Apache-2.0
#include "model/layers/adapter_room.h"

#include <utility>

namespace reel::model {

LowRankColumns AdapterRoom::Add(const std::vector<std::string>& names, int64_t in, int64_t out,
                                const at::TensorOptions& options) {
  const auto parts = static_cast<int64_t>(names.size());
  const int64_t slots = columns_ / kAdapterSlot;
  LowRankColumns made = {.down = at::zeros({slots, parts, kAdapterSlot, in}, options),
                         .up = at::zeros({parts, out, slots, kAdapterSlot}, options)};
  bytes_ += static_cast<int64_t>(made.down.nbytes() + made.up.nbytes());
  return Added(names, std::move(made));
}

LowRankColumns AdapterRoom::AddBehind(const std::vector<std::string>& names, at::Tensor& weight) {
  const auto parts = static_cast<int64_t>(names.size());
  const int64_t slots = columns_ / kAdapterSlot, in = weight.size(1);
  const int64_t out = weight.size(0) / parts, length = in + parts * columns_;
  LowRankColumns made = {.down = at::zeros({slots, parts, kAdapterSlot, in}, weight.options()),
                         .up = {},
                         .whole = at::zeros({weight.size(0), length}, weight.options())};
  made.whole.narrow(1, 0, in).copy_(weight);
  weight = made.whole.narrow(1, 0, in);
  // Of each part its own columns, which lie a part's rows and a slot further than the one before.
  made.up =
      made.whole.as_strided({parts, out, slots, kAdapterSlot},
                            {out * length + kAdapterSlot, length, parts * kAdapterSlot, 1}, in);
  bytes_ += static_cast<int64_t>(made.down.nbytes() + made.whole.nbytes() - weight.nbytes());
  return Added(names, std::move(made));
}

LowRankColumns AdapterRoom::Added(const std::vector<std::string>& names, LowRankColumns made) {
  made.in_use = in_use_;
  made.product = in_use_->is_used.size();
  in_use_->is_used.push_back(false);
  for (size_t part = 0; part < names.size(); ++part) {
    const auto index = static_cast<int64_t>(part);
    layers_.push_back({names[part], made.down.select(1, index), made.up[index], made.product});
  }
  return made;
}

void AdapterRoom::Use(const Layer& layer) {
  if (IsUsed(layer)) return;
  in_use_->is_used[layer.product] = true;
  ++in_use_->count;
}

}  // namespace reel::model
