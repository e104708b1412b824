// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/turns.h"

#include <algorithm>

namespace reel::worker {

bool Turns::StepIsDue(Beside piece, absl::Duration step) const {
  if (piece == Beside::kAhead) return ahead_ > absl::ZeroDuration() && ahead_ >= step;
  return owed_ > absl::ZeroDuration();
}

void Turns::Stepped(absl::Duration took) {
  ahead_ = absl::ZeroDuration();
  owed_ = std::max(owed_ - took, absl::ZeroDuration());
}

void Turns::Moved(Beside piece, absl::Duration took) {
  (piece == Beside::kAhead ? ahead_ : owed_) += took;
}

}  // namespace reel::worker
