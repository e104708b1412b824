// SPDX-License-Identifier: Apache-2.0
// Orders steps of a running batch and pieces beside them when both wait.
#pragma once

#include "absl/time/time.h"

namespace reel::worker {

// Note: [Turns]. Steps and other pieces alternate by time, not by count, since a step of a long
// video can take as long as a whole short one.
// - A job that goes before the batch, or would join it, has as many pieces as take no longer than
//   one step together. So a short job is done at once, jobs that arrive together step together, and
//   the batch loses at most one step's time.
// - Frames of a job that does not go before the batch are charged: steps that take as long come
//   before more frames. So a decode takes at most half of the device from the batch.
class Turns {
 public:
  // The job's relation to the batch; kAhead: it goes before the batch, or joins it.
  enum class Beside { kAhead, kDecoding };

  // `step`: the time of one step of the batch.
  bool StepIsDue(Beside piece, absl::Duration step) const;
  void Stepped(absl::Duration took);
  void Moved(Beside piece, absl::Duration took);

 private:
  absl::Duration ahead_;  // used by such jobs since the last step
  absl::Duration owed_;   // owed to steps
};

}  // namespace reel::worker
