// SPDX-License-Identifier: Apache-2.0
// The work that a request's pictures and clips add to that of its passes, as far as it takes
// memory. Clips count with all frames that they may have: how many they have is known to their
// decoder alone.
#pragma once

#include <cstdint>

#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

struct ConditionWork {
  int64_t pixels = 0;            // of all frames that an encoder has at a time; the most
  int64_t added_tokens = 0;      // to the largest pass, by pictures and clips inside the video
  int64_t upsampled_tokens = 0;  // of a refined clip, all windows together

  friend bool operator==(const ConditionWork&, const ConditionWork&) = default;
};

ConditionWork ConditionWorkOf(const GenerationSpec& resolved, const ModelCard& card);

}  // namespace reel::model
