// SPDX-License-Identifier: Apache-2.0
// Decides which device work has its operators timed: a share of all steps, and at least one step of
// every job.
#pragma once

#include "absl/time/time.h"

namespace reel::worker {

class SampleRule {
 public:
  struct Options {
    int every = 32;  // steps of the device, across jobs; 0: nothing is timed
    // The least time between two timed pieces, where timing costs more than reading a clock.
    absl::Duration distance;
  };
  // The state of a step's jobs.
  struct Step {
    bool is_first_of_one = false;  // a first step sets up what later ones reuse
    bool is_owed = false;          // one of them, past its first step, has no timed step yet
    bool is_last_chance = false;   // and will have no further step
  };

  explicit SampleRule(const Options& options) : options_(options) {}

  // Called once before each step. Never samples a job's first step, unless another job of the batch
  // would otherwise end without a sample.
  bool TakeStep(const Step& step, absl::Time now);
  // Called once for each text encoding and each decode of a job: samples all of its pieces or none.
  bool TakeStage(absl::Time now);

 private:
  bool IsFarEnough(absl::Time now) const { return now - last_ >= options_.distance; }

  const Options options_;
  int untimed_steps_ = 0;  // since the last timed step
  absl::Time last_ = absl::InfinitePast();
};

}  // namespace reel::worker
