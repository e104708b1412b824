// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/block_walk.h"

#include <algorithm>
#include <utility>

namespace reel::model::ltx {

BlockWalk::BlockWalk(const PlacedLayers<TransformerBlock>& blocks, const at::Tensor& tables,
                     absl::Span<const VelocityInputs> groups, TokenLayout::Order order,
                     at::Tensor x, Range range)
    : blocks_(blocks),
      call_(groups, order,
            tables.slice(0, static_cast<int64_t>(range.first), static_cast<int64_t>(range.end)),
            range.first),
      tokens_{std::move(x)},
      at_(range.first),
      end_(range.end) {}

bool BlockWalk::IsPerturbed(size_t block) const {
  const std::vector<int64_t>& blocks = groups()[0].perturbed;
  return groups().size() == 1 &&
         std::find(blocks.begin(), blocks.end(), static_cast<int64_t>(block)) != blocks.end();
}

void BlockWalk::Next(const Ops& ops) {
  const bool is_perturbed = IsPerturbed(at_);
  if (is_perturbed) tokens_.x = call_.SplitPerturbed(tokens_.x);
  // The first block ends alike whether others follow or are left out; in front of a perturbed block
  // rows are split.
  const bool goes_on = at_ > 0 && at_ + 1 < end_ && !IsPerturbed(at_ + 1);
  const LayerPlaces::Use use(blocks_.places(), at_, end_, &ops.run());
  tokens_ = blocks_[at_](ops, tokens_, {at_, is_perturbed, goes_on}, call_);
  ++at_;
}

}  // namespace reel::model::ltx
