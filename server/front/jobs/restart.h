// SPDX-License-Identifier: Apache-2.0
// Loads what an earlier process left: queued jobs keep waiting, running jobs start again, jobs
// whose deadline has passed fail, and files that belong to no job are moved away.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/cost_model.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/recovery.h"
#include "server/front/jobs/replica.h"
#include "server/front/jobs/request_table.h"
#include "server/front/jobs/revival.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/video_serializer.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Before anything else runs.
class RestartOfFront {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobStore& store;
    MediaStore& media;
    const VideoSerializer& serializer;
    Replica& replica;
    JobTable& jobs;
    JobRecords& records;
    RequestTable& requests;
    Fleet& fleet;
    CostModel& costs;
    const Revival& revival;
    TenantLedger& ledger;
    TimerQueue& timers;
    Recovery& recovery;
    Endings& endings;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit RestartOfFront(const Parts& parts) : parts_(parts) {}

  // Blocks.
  absl::Status Recover();
  // After it: videos that a log knows, of which no worker had begun when the process ended.
  std::set<std::string> TakeNeverBegun() { return std::move(never_begun_); }

 private:
  absl::Status TakeReplica();
  absl::Status KeepFiles();
  absl::Status LearnAgain();
  void TakeUp(JobRow row);
  void Resume(ActiveJob& job, bool ran);

  const Parts parts_;
  std::map<std::string, int64_t> condition_bytes_;  // by job
  std::set<std::string> never_begun_;
};

}  // namespace reel::front
