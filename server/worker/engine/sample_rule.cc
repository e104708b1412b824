// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/sample_rule.h"

namespace reel::worker {

bool SampleRule::TakeStep(const Step& step, absl::Time now) {
  if (options_.every <= 0) return false;
  // A sample that fell on a job's first step, or too close to another piece, stays due.
  if (untimed_steps_ < options_.every) ++untimed_steps_;
  const bool is_due = step.is_owed || untimed_steps_ >= options_.every;
  if (!step.is_last_chance && (step.is_first_of_one || !is_due || !IsFarEnough(now))) return false;
  untimed_steps_ = 0;
  last_ = now;
  return true;
}

bool SampleRule::TakeStage(absl::Time now) {
  if (options_.every <= 0 || !IsFarEnough(now)) return false;
  last_ = now;
  return true;
}

}  // namespace reel::worker
