// SPDX-License-Identifier: Apache-2.0
// How the rows of a step are divided between the halves of a group, and what a rank keeps of a
// clip.
#pragma once

#include <cstdint>

#include "model/denoise/guidance.h"
#include "model/ltx/transformer.h"
#include "model/tokens/rank_tokens.h"

namespace reel::model::ltx {

// Of a step's rows, those side by side from `first` on.
struct RowRange {
  int64_t first = 0, count = 0;

  friend bool operator==(const RowRange&, const RowRange&) = default;
};

// The first half has the prompt's row, and the perturbed one where there are three: that one is the
// prompt's for most of its way. The second has the other row, or nothing: beside steps of several
// rows one of one row is the first half's.
RowRange RowsOfHalf(const GuidancePoint& point, int half);

// What stays the same from step to step, on the rank's device: copies, of which each is made anew
// when what it was made of is another tensor.
struct RankShare {
  RowRange rows;      // of the text
  TokenRange tokens;  // of the places and the times
  at::Tensor of_text, of_rope, of_time;
  TextContext text;
  RopeTable rope;
  at::Tensor time_of;  // VelocityInputs::time_of
};

}  // namespace reel::model::ltx
