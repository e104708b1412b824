// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/reference_attention.h"

#include <algorithm>
#include <cmath>

namespace reel::model::ltx2 {
namespace {

double LogOf(double strength) { return std::max(std::log(strength), kUnseen); }

}  // namespace

bool ReferenceAttention::is_full() const {
  return std::ranges::all_of(clips, [](const ReferenceGroup& clip) { return clip.strength == 1; });
}

std::vector<QueryBias> AttentionBias(const ReferenceAttention& by, const at::Tensor& x) {
  const int64_t rows = x.size(0), tokens = x.size(1), own = by.own_tokens;
  std::vector<QueryBias> bias;
  const auto add = [&](int64_t first, int64_t count) -> at::Tensor {
    const at::Tensor keys = at::zeros({1, 1, 1, tokens}, x.options());
    if (count > 0) bias.push_back({first, count, keys.expand({rows, -1, -1, -1})});
    return keys;
  };
  const at::Tensor of_own = add(0, own);
  for (const ReferenceGroup& clip : by.clips) {
    of_own.narrow(3, clip.first, clip.count).fill_(LogOf(clip.strength));
  }
  const int64_t first_clip = by.clips.front().first;
  add(own, first_clip - own).slice(3, first_clip).fill_(kUnseen);
  for (const ReferenceGroup& clip : by.clips) {
    const at::Tensor of_clip = add(clip.first, clip.count);
    of_clip.slice(3, 0, own).fill_(LogOf(clip.strength));
    of_clip.slice(3, own).fill_(kUnseen);
    of_clip.narrow(3, clip.first, clip.count).fill_(0);
  }
  return bias;
}

}  // namespace reel::model::ltx2
