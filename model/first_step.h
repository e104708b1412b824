// SPDX-License-Identifier: Apache-2.0
// Which part of a schedule a strength leaves: known to those that plan for a model, too.
#pragma once

#include <algorithm>

namespace reel::model {

// The first step that is run when only the end of a schedule is, for a strength of 0..1.
inline int FirstStep(int steps, double strength) {
  const int run = std::min(static_cast<int>(steps * strength), steps);
  return std::max(steps - run, 0);
}

}  // namespace reel::model
