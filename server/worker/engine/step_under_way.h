// SPDX-License-Identifier: Apache-2.0
// A step that is suspended between two of its pieces, or about to be made as a whole.
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_timer.h"
#include "model/pipeline.h"
#include "server/worker/engine/batch.h"

namespace reel::worker {

struct StepUnderWay {
  Batch batch;
  std::unique_ptr<model::StepInPieces> pieces;  // null: made as a whole
  kernels::KernelTimer* timer = nullptr;        // null: its operators are not timed
  kernels::KernelCounters counters;
  absl::Duration took;                                   // time of the step itself so far
  bool is_interrupted = false, was_interrupted = false;  // its jobs are put down
};

}  // namespace reel::worker
