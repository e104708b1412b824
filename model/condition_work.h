// SPDX-License-Identifier: Apache-2.0
// Work of a request's pictures and clips that takes device memory. Only a worker's decoder knows a
// clip's frames, so a clip counts with as many as fit the video and may be decoded.
#pragma once

#include <cstdint>

#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

// Most bytes that a worker decodes the conditions of a request to, three for each pixel. Clips that
// are refined have a bound of their own.
inline constexpr int64_t kMostConditionBytes = int64_t{1} << 30;

struct ConditionWork {
  int64_t pixels = 0;            // in all frames of the largest encoder call
  int64_t added_tokens = 0;      // of pictures and clips inside the video, in the largest pass
  int64_t upsampled_tokens = 0;  // of a refined clip, over all windows

  friend bool operator==(const ConditionWork&, const ConditionWork&) = default;
};

ConditionWork ConditionWorkOf(const GenerationSpec& resolved, const ModelCard& card);

}  // namespace reel::model
