// SPDX-License-Identifier: Apache-2.0
// Decides which device work has its operators timed: some of it always, and some of every job.
#pragma once

#include "absl/time/time.h"

namespace reel::worker {

class SampleRule {
 public:
  struct Options {
    int every = 32;  // steps of the device, across jobs; 0: nothing is timed
    // At least so much from one timed piece to the next, where timing costs more than the clock.
    absl::Duration distance;
  };
  // What the jobs of a step are at.
  struct Step {
    bool is_first_of_one = false;  // pays for what later steps find ready
    bool is_owed = false;          // one of them, past its first step, has none that was timed
    bool is_last_chance = false;   // and will have no further step
  };

  explicit SampleRule(const Options& options) : options_(options) {}

  // Called once for each step, before it. Never the first of a job, unless another one of the batch
  // would end without any.
  bool TakeStep(const Step& step, absl::Time now);
  // Called once for each text encoding and each decode of a job: all pieces of it or none.
  bool TakeStage(absl::Time now);

 private:
  bool IsFarEnough(absl::Time now) const { return now - last_ >= options_.distance; }

  const Options options_;
  int untimed_steps_ = 0;  // since the last timed one
  absl::Time last_ = absl::InfinitePast();
};

}  // namespace reel::worker
