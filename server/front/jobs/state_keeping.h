// SPDX-License-Identifier: Apache-2.0
// Takes in the states that jobs leave, and has them kept before their videos count as finished.
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
  // The worker's last report of the job: what it has sent is all.
  void End(ActiveJob& job, const JobFinished& finished);
  // The file of the job is whole. `done` hears its video with the state that was kept; a notice
  // tells why one was not.
  void Keep(const ActiveJob& job, Video video, absl::AnyInvocable<void(Video)> done);

 private:
  absl::Status CheckRoom(const ActiveJob& job, int64_t file) const;

  const Ports ports_;
  const std::shared_ptr<StatePieces::Total> total_;
};

}  // namespace reel::front
