// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/step_pace.h"

namespace reel::model {

bool StepPace::Waits(absl::Span<Generation* const> generations) {
  const bool again = absl::MakeConstSpan(stepped_) == generations;
  stepped_.assign(generations.begin(), generations.end());
  return !again || took_ > kLongStep;
}

}  // namespace reel::model
