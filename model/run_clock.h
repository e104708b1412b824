// SPDX-License-Identifier: Apache-2.0
// A clock that is always in one part of a job's run, so that the parts sum to the whole.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "model/run_stats.h"

namespace reel::model {

// The part of a job that is busy with `stage`.
RunPart PartOf(Stage stage);
// "denoise", for logs.
std::string_view PartName(RunPart part);

// Instants are those of any one monotonic clock. Used by one thread.
class RunClock {
 public:
  // The facts of a span beside its part.
  struct Facts {
    int step = 0;  // of a denoising step, from 1
    int jobs = 0;  // jobs that shared it
    bool timed = false;
  };

  // From `now` on the job is in `part`. The first call starts the clock.
  void Enter(RunPart part, absl::Duration now, const Facts& facts);
  void Enter(RunPart part, absl::Duration now) { Enter(part, now, Facts()); }
  RunPart part() const { return part_; }
  // The worker's work so far was in vain.
  void LoseAttempt(absl::Duration now);
  // Adds what the worker reports of the attempt that has ended there. The rest of the job's time
  // there is kHandover.
  void Detail(const std::vector<PartTime>& parts, const std::vector<PartSpan>& spans);

  // Both until `now`; the clock continues. Parts in order, without empty ones.
  std::vector<PartTime> Parts(absl::Duration now) const;
  // Spans in order of time, without kWait; of a very long run only the first ones.
  std::vector<PartSpan> Spans(absl::Duration now) const;

 private:
  void Close(absl::Duration now);
  void Add(const PartSpan& span);
  // Removes the parts that a worker did, and returns their sum.
  absl::Duration TakeAttempt();

  RunPart part_ = RunPart::kUnspecified;
  absl::Duration origin_, since_;
  absl::Duration attempt_start_;  // since origin_
  Facts facts_;
  std::array<absl::Duration, kRunParts> times_;
  std::vector<PartSpan> spans_;
};

}  // namespace reel::model
