// SPDX-License-Identifier: Apache-2.0
// Turns the last report of a worker into a success: counts what the job used, closes the file and
// compares its size with the one reported.
#pragma once

#include <string>

#include "model/run_stats.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/state_keeping.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Finishing {
 public:
  Finishing(DispatcherState& state, const DispatcherPorts& ports, JobRecords& records, Slots& slots,
            Endings& endings, StateKeeping& states)
      : state_(state),
        ports_(ports),
        records_(records),
        slots_(slots),
        endings_(endings),
        states_(states) {}

  void On(const WorkerReport& from, JobFinished finished);

 private:
  // Adds the figures that only the front knows.
  model::RunStats Complete(ActiveJob& job, model::RunStats stats) const;
  void Count(ActiveJob& job, model::RunStats& stats);
  void OnDigest(const std::string& id, Video video, const absl::StatusOr<MediaDigest>& digest);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  Slots& slots_;
  Endings& endings_;
  StateKeeping& states_;
};

}  // namespace reel::front
