// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/turns.h"

#include <algorithm>

namespace reel::worker {

bool Turns::StepIsDue(Beside piece, absl::Duration step) const {
  if (piece == Beside::kAhead) return ahead_ > absl::ZeroDuration() && ahead_ >= step;
  return one_is_owed_ || (piece == Beside::kDecoding && owed_ > absl::ZeroDuration());
}

void Turns::Stepped(absl::Duration took) {
  ahead_ = absl::ZeroDuration();
  owed_ = std::max(owed_ - took, absl::ZeroDuration());
  one_is_owed_ = false;
}

void Turns::Moved(Beside piece, absl::Duration took) {
  if (piece == Beside::kAhead) {
    ahead_ += took;
    return;
  }
  one_is_owed_ = true;
  if (piece == Beside::kDecoding) owed_ += took;
}

}  // namespace reel::worker
