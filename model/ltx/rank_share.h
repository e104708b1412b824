// SPDX-License-Identifier: Apache-2.0
// How the rows of a step are divided between two ranks of a group, and what a rank keeps of a clip.
#pragma once

#include <cstdint>

#include "model/ltx/guidance.h"
#include "model/ltx/transformer.h"

namespace reel::model::ltx {

// Of a step's rows, those side by side from `first` on.
struct RowRange {
  int64_t first = 0, count = 0;

  friend bool operator==(const RowRange&, const RowRange&) = default;
};

// The first rank has the prompt's row, and the perturbed one where there are three: that one is the
// prompt's for most of its way. The second has the other row, or nothing: a step of one row is the
// first rank's.
RowRange RowsOfRank(const GuidancePoint& point, int rank);

// What stays the same from step to step, on the rank's device: copies, of which each is made anew
// when what it was made of is another tensor.
struct RankShare {
  RowRange rows;  // of the text
  at::Tensor of_text, of_rope, of_time;
  TextContext text;
  RopeTable rope;
  at::Tensor time_of;  // VelocityInputs::time_of
};

}  // namespace reel::model::ltx
