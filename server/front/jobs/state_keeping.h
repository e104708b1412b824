// SPDX-License-Identifier: Apache-2.0
// Receives the states that jobs leave and stores them before their videos count as finished.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/front/jobs/end_journal.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/state_pieces.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/video.h"
#include "server/front/scheduling/job_options.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class StateKeeping {
 public:
  struct Ports {
    JobTable& jobs;
    const ByteQuota& bytes;
    EndJournal& journal;
    const OwnThread& thread;
    const StateOptions& options;
    JobObserver& observer;
  };
  explicit StateKeeping(const Ports& ports)
      : ports_(ports), total_(std::make_shared<StatePieces::Total>(0)) {}

  void On(const WorkerReport& from, JobState piece);
  // Called with the worker's last report: all pieces have arrived.
  void End(ActiveJob& job, const JobFinished& finished);
  // Called once the job's file is complete. `done` gets the video with its kept state, or with a
  // notice why there is none.
  void Keep(const ActiveJob& job, Video video, absl::AnyInvocable<void(Video)> done);

 private:
  absl::Status CheckRoom(const ActiveJob& job, int64_t file) const;

  const Ports ports_;
  const std::shared_ptr<StatePieces::Total> total_;
};

}  // namespace reel::front
