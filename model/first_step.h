// SPDX-License-Identifier: Apache-2.0
// The first step of a schedule for a strength; those who plan for a model use it too.
#pragma once

#include <algorithm>

namespace reel::model {

// The first step that is run when only the end of a schedule is, for a strength of 0..1.
inline int FirstStep(int steps, double strength) {
  const int run = std::min(static_cast<int>(steps * strength), steps);
  return std::max(steps - run, 0);
}

}  // namespace reel::model
