// SPDX-License-Identifier: Apache-2.0
// Decides which steps the engine waits for. A device goes from one short step of the same
// generations to the next without a stop: a call returns when the step before it is done. A long
// one is waited for, or else a newcomer would stand behind two of them.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "model/pipeline.h"

namespace reel::model {

// What a launch takes is little beside it.
inline constexpr absl::Duration kLongStep = absl::Milliseconds(100);

class StepPace {
 public:
  // Of the step that begins. The first of the same generations is waited for as well, so that who
  // takes turns is charged for its own time, and so that its length is known.
  bool Waits(absl::Span<Generation* const> generations);
  // How long the call for it took.
  void Took(absl::Duration took) { took_ = took; }

 private:
  std::vector<Generation*> stepped_;  // in the latest step; compared, not looked into
  absl::Duration took_;
};

}  // namespace reel::model
