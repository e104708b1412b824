// SPDX-License-Identifier: Apache-2.0
// The first step of a schedule for a strength; also for code that plans a model's work.
#pragma once

#include <algorithm>

namespace reel::model {

// The index of the first step that runs if only the end of a schedule does, for a strength of 0..1.
inline int FirstStep(int steps, double strength) {
  const int run = std::min(static_cast<int>(steps * strength), steps);
  return std::max(steps - run, 0);
}

}  // namespace reel::model
