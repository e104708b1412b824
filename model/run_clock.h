// SPDX-License-Identifier: Apache-2.0
// A clock that is always in one part of a job's run, so that the parts sum to the whole.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "model/run_stats.h"

namespace reel::model {

// What a job that is busy with `stage` does, as far as that tells.
RunPart PartOf(Stage stage);
// "denoise", for logs.
std::string_view PartName(RunPart part);

// Instants are those of any one monotonic clock. Confined to one thread.
class RunClock {
 public:
  // What a span has beside its part.
  struct Facts {
    int step = 0;  // of a denoising step, from 1
    int jobs = 0;  // that shared it
    bool timed = false;
  };

  // From `now` on the job is in `part`. The first call starts the clock.
  void Enter(RunPart part, absl::Duration now, const Facts& facts);
  void Enter(RunPart part, absl::Duration now) { Enter(part, now, Facts()); }
  RunPart part() const { return part_; }
  // What was done at the worker, so far, came to nothing.
  void LoseAttempt(absl::Duration now);
  // What the worker itself says of the attempt that has ended there. The rest of the time that the
  // job was there is kHandover.
  void Detail(const std::vector<PartTime>& parts, const std::vector<PartSpan>& spans);

  // Both until `now`, in which the clock goes on. Parts in their order, without empty ones.
  std::vector<PartTime> Parts(absl::Duration now) const;
  // Spans in the order of time, without kWait; of a very long run the first ones.
  std::vector<PartSpan> Spans(absl::Duration now) const;

 private:
  void Close(absl::Duration now);
  void Add(const PartSpan& span);
  // Takes the parts that a worker does out of the books, and says how long they were.
  absl::Duration TakeAttempt();

  RunPart part_ = RunPart::kUnspecified;
  absl::Duration origin_, since_;
  absl::Duration attempt_start_;  // since origin_
  Facts facts_;
  std::array<absl::Duration, kRunParts> times_;
  std::vector<PartSpan> spans_;
};

}  // namespace reel::model
