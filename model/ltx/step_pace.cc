// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/step_pace.h"

namespace reel::model::ltx {

bool StepPace::Waits(absl::Span<Generation* const> generations) {
  const bool again = absl::MakeConstSpan(stepped_) == generations;
  stepped_.assign(generations.begin(), generations.end());
  return !again || took_ > kLongStep;
}

}  // namespace reel::model::ltx
