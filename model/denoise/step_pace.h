// SPDX-License-Identifier: Apache-2.0
// Decides which steps the engine waits for. A call returns when the previous step is done, so that
// the device never pauses between short steps of the same generations. It waits for long steps,
// since a newcomer would otherwise wait for two of them.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "model/pipeline.h"

namespace reel::model {

// Launch time is negligible for steps of this length.
inline constexpr absl::Duration kLongStep = absl::Milliseconds(100);

class StepPace {
 public:
  // Whether to wait for the step that begins. The first step of the same generations is waited for
  // as well, to charge each for its own time, and to learn its length.
  bool Waits(absl::Span<Generation* const> generations);
  // The time of the call.
  void Took(absl::Duration took) { took_ = took; }

 private:
  std::vector<Generation*> stepped_;  // of the latest step; only compared, never dereferenced
  absl::Duration took_;
};

}  // namespace reel::model
