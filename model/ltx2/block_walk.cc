// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/block_walk.h"

#include <algorithm>

namespace reel::model::ltx2 {

void BlockWalk::Next(const Ops& ops) {
  const auto index = static_cast<int64_t>(at_);
  const bool is_perturbed =
      std::find(perturbed_.begin(), perturbed_.end(), index) != perturbed_.end();
  const LayerPlaces::Use use(blocks_.places(), at_, blocks_.size(), &ops.run());
  tokens_ = blocks_[at_](ops.WithAdapters(call_.adapters), tokens_, call_, is_perturbed);
  ++at_;
}

}  // namespace reel::model::ltx2
