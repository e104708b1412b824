// SPDX-License-Identifier: Apache-2.0
// Takes up what an earlier process left: what it has learned, and files of videos that have ended.
// Of a video that lived its row goes, since its log says whose it is; files that belong to no video
// are moved away.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/replica.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/video_serializer.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/job_options.h"
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
    Fleet& fleet;
    CostModel& costs;
    TenantLedger& ledger;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit RestartOfFront(const Parts& parts) : parts_(parts) {}

  // Blocks.
  absl::Status Recover();
  // After it: videos of which no worker had begun any when the process ended.
  std::set<std::string> TakeNeverBegun() { return std::move(never_begun_); }

 private:
  absl::Status TakeReplica();
  absl::Status KeepFiles();
  absl::Status LearnAgain();
  void Forget(const JobRow& row);

  const Parts parts_;
  std::set<std::string> never_begun_;
};

}  // namespace reel::front
