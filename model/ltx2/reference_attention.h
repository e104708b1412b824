// SPDX-License-Identifier: Apache-2.0
// The strength with which a video's tokens and those of its reference clips attend to each other.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"
#include "model/ltx2/attention_layer.h"

namespace reel::model::ltx2 {

// A clip's tokens, and the strength of its attention: 1 is all, 0 is none.
struct ReferenceGroup {
  int64_t first = 0, count = 0;
  double strength = 1;
};

struct ReferenceAttention {
  int64_t own_tokens = 0;  // of the video, which come first; then those that conditions add to it
  std::vector<ReferenceGroup> clips = {};  // the last tokens, without gaps

  // True if no clip has a strength below 1, so that no bias is needed.
  bool is_full() const;
};

// The bias of self attention over the tokens of x [B, S, C], in its type and on its device. The
// weights between the video's own tokens and a clip's are multiplied by the clip's strength, in
// both directions and before they are normalised. Clips do not see each other, nor the tokens that
// conditions add. A row of keys for each group of queries: S^2 values are never stored.
std::vector<QueryBias> AttentionBias(const ReferenceAttention& by, const at::Tensor& x);

}  // namespace reel::model::ltx2
