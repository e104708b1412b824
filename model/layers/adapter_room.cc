// SPDX-License-Identifier: Apache-2.0
#include "model/layers/adapter_room.h"

namespace reel::model {

LowRankColumns AdapterRoom::Add(const std::vector<std::string>& names, int64_t in, int64_t out,
                                const at::TensorOptions& options) {
  const auto parts = static_cast<int64_t>(names.size());
  const LowRankColumns made = {
      at::zeros({columns_ / kAdapterSlot, parts, kAdapterSlot, in}, options),
      at::zeros({parts, out, columns_}, options), in_use_, in_use_->is_used.size()};
  in_use_->is_used.push_back(false);
  for (int64_t part = 0; part < parts; ++part) {
    layers_.push_back(
        {names[static_cast<size_t>(part)], made.down.select(1, part), made.up[part], made.product});
  }
  bytes_ += static_cast<int64_t>(made.down.nbytes() + made.up.nbytes());
  return made;
}

void AdapterRoom::Use(const Layer& layer) {
  if (IsUsed(layer)) return;
  in_use_->is_used[layer.product] = true;
  ++in_use_->count;
}

}  // namespace reel::model
