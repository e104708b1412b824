// SPDX-License-Identifier: Apache-2.0
// Orders steps of a running batch and pieces beside them when both wait.
#pragma once

#include "absl/time/time.h"

namespace reel::worker {

// Note: [Turns]. They take turns by time, not by count, for a step of a long video can take as long
// as a short one in full.
// - A job that goes before the batch, or would join it, has as many pieces as take no longer than
//   one step of it. So a short one does all that it has to do and is gone, several that come
//   together step together, and the batch loses a step's time at most.
// - Frames of a job that does not go before it are paid for: steps that take as long come before
//   more frames, so that a decode takes half of the device from those that it interrupts, not more.
class Turns {
 public:
  // What the job is to the batch: kAhead of one that goes before it, or joins it.
  enum class Beside { kAhead, kDecoding };

  // `step`: what one of the batch took.
  bool StepIsDue(Beside piece, absl::Duration step) const;
  void Stepped(absl::Duration took);
  void Moved(Beside piece, absl::Duration took);

 private:
  absl::Duration ahead_;  // that such jobs took since the last step
  absl::Duration owed_;   // to steps
};

}  // namespace reel::worker
