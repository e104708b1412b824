// SPDX-License-Identifier: Apache-2.0
// The part of a video that a rank of a group keeps from step to step.
#pragma once

#include <cstdint>

#include "model/ltx/velocity_inputs.h"
#include "model/tokens/rank_tokens.h"

namespace reel::model::ltx {

// Copies on the rank's device; each is made again when its source is another tensor.
struct RankShare {
  RowRange rows;                         // of the text
  TokenRange tokens;                     // of the places and the times
  at::Tensor of_text, of_rope, of_time;  // the sources
  TextContext text;
  RopeTable rope;
  at::Tensor time_of;  // VelocityInputs::time_of
};

}  // namespace reel::model::ltx
