// SPDX-License-Identifier: Apache-2.0
// State of the dispatcher's thread: live jobs, workers, costs, tenants' use.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/front/jobs/blame.h"
#include "server/front/jobs/experiment_board.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/logged_job.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/shadows/shadow_queue.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/video.h"
#include "server/front/jobs/video_id.h"
#include "server/front/jobs/worker_roster.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/state.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_store.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// The stores, workers, metrics and clock that the dispatcher works with.
// They outlive the dispatcher.
struct DispatcherPorts {
  JobStore& store;
  MediaStore& media;
  WorkerPool& pool;
  JobObserver& observer;
  const Clock& clock;
  const VideoSerializer& serializer;
};

// Stored videos that are being removed, and callers' handles of stored videos, so that a removed
// video's missing file does not count as damage. Confined to the dispatcher's thread. `replica`
// outlives it.
class Removals {
 public:
  explicit Removals(const Replica& replica) : replica_(replica) {}

  // Notes that a caller has a handle of this finished video.
  void Watch(const std::string& id, const std::shared_ptr<LoggedJob>& job);
  // Called before the file is deleted: handles that have not opened it answer NOT_FOUND from now
  // on. Returns false if the video is being removed already.
  bool Begin(const std::string& id);
  // The removal is done or has failed.
  void End(const std::string& id) { removing_.erase(id); }
  // NOT_FOUND while the video is being removed.
  absl::Status CheckStays(const std::string& id) const;

 private:
  void DropUnheld();

  const Replica& replica_;
  std::set<std::string> removing_;
  std::multimap<std::string, std::weak_ptr<LoggedJob>> handles_;
  size_t drop_at_ = 1024;  // handles; twice the number left by the last clean-up
};

// Progress of a drain. Confined to the dispatcher's thread, except `begun`.
struct DrainState {
  std::atomic<bool> begun = false;
  bool closed = false;     // no new jobs, no new assignments
  bool limit_met = false;  // running jobs had their time

  // Whether the drain leaves the job to the next process or another server.
  bool Leaves(const ActiveJob& job) const {
    return job.at_worker() ? limit_met : job.phase() == Phase::kQueued;
  }
};

// Confined to the dispatcher's thread unless said otherwise. Calls no port.
struct DispatcherState {
  // `post`: see OwnThread.
  DispatcherState(const JobOptions& job_options, const Clock& clock,
                  std::function<void(OwnThread::Task)> post)
      : options(job_options), thread(std::move(post)), jobs(clock) {
    for (const auto& [tenant, of_tenant] : options.tenants) {
      share.SetWeight(tenant, of_tenant.weight);
    }
  }
  // Members refer to each other.
  DispatcherState(const DispatcherState&) = delete;
  DispatcherState& operator=(const DispatcherState&) = delete;

  // The plan's input. Valid until any of it changes.
  State Now() const { return {jobs.Planned(), roster, costs, share, options}; }

  const JobOptions options;
  const OwnThread thread;
  Replica replica{options.replica};
  JobTable jobs;
  TimerQueue timers;
  DrainState drain;
  WorkerRoster roster{options};
  CostModel costs;
  FairShare share;
  TenantLedger ledger;
  ByteQuota bytes{jobs, ledger, options};
  Quarantine quarantine;
  ExperimentBoard experiments{options.experiments};
  ShadowQueue shadow_queue{options.experiments};
  Removals removals{replica};
};

}  // namespace reel::front
