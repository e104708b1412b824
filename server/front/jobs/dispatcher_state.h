// SPDX-License-Identifier: Apache-2.0
// Everything that the dispatcher's thread knows: live jobs, workers, costs, what tenants have had.
#pragma once

#include <atomic>
#include <functional>

#include "server/front/jobs/byte_quota.h"
#include "server/front/jobs/experiment_board.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/quarantine.h"
#include "server/front/jobs/removals.h"
#include "server/front/jobs/replica.h"
#include "server/front/jobs/shadows/shadow_queue.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/state.h"

namespace reel::front {

// How far a drain has come. Confined to the dispatcher's thread, but for `begun`.
struct DrainState {
  std::atomic<bool> begun = false;
  bool closed = false;     // no new jobs, no new assignments
  bool limit_met = false;  // running jobs have had their time

  // It is in its log, for the next process or for another server.
  bool Leaves(const ActiveJob& job) const {
    return job.at_worker() ? limit_met : job.phase() == Phase::kQueued;
  }
};

// Confined to the dispatcher's thread, but for what says otherwise. Nothing in it calls a port.
struct DispatcherState {
  // `post`: see OwnThread.
  DispatcherState(const JobOptions& job_options, const Clock& clock,
                  std::function<void(OwnThread::Task)> post)
      : options(job_options), thread(std::move(post)), jobs(clock) {
    for (const auto& [tenant, of_tenant] : options.tenants) {
      share.SetWeight(tenant, of_tenant.weight);
    }
  }
  // Members point at each other.
  DispatcherState(const DispatcherState&) = delete;
  DispatcherState& operator=(const DispatcherState&) = delete;

  // What is planned from. Valid until any of it changes.
  State Now() const { return {jobs.Planned(), fleet, costs, share, options}; }

  const JobOptions options;
  const OwnThread thread;
  Replica replica{options.replica};
  JobTable jobs;
  TimerQueue timers;
  DrainState drain;
  Fleet fleet{options};
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
