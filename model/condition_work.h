// SPDX-License-Identifier: Apache-2.0
// Work of a request's pictures and clips that takes device memory. A clip counts with the most
// frames that fit the video, since only its decoder knows how many it has.
#pragma once

#include <cstdint>

#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

struct ConditionWork {
  int64_t pixels = 0;            // in all frames of the largest encoder call
  int64_t added_tokens = 0;      // of pictures and clips inside the video, in the largest pass
  int64_t upsampled_tokens = 0;  // of a refined clip, over all windows

  friend bool operator==(const ConditionWork&, const ConditionWork&) = default;
};

ConditionWork ConditionWorkOf(const GenerationSpec& resolved, const ModelCard& card);

}  // namespace reel::model
