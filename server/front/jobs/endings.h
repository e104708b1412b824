// SPDX-License-Identifier: Apache-2.0
// How jobs end. Whichever end is decided first stands; it is durable before anybody sees it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/errors/reason.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/request_table.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class Endings {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    JobRecords& records;
    Slots& slots;
    RequestTable& requests;
    TimerQueue& timers;
    TenantLedger& ledger;
    MediaStore& media;
    JobObserver& observer;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit Endings(const Parts& parts) : parts_(parts) {}

  // An error of the job: names it and tells its steps.
  static absl::Status ErrorOf(const ActiveJob& job, Reason reason, std::string_view message);

  // `event`: kEnded, or which other end it is. Does nothing when the job's end is decided already.
  void Cancel(ActiveJob& job, Reason reason, std::string_view message);
  void Fail(ActiveJob& job, JobEvent event, absl::Status error);
  void FailByDeadline(ActiveJob& job, JobEvent event);
  // Its media and its digest are there.
  void Succeed(ActiveJob& job, Video video, const MediaDigest& digest);

 private:
  void End(ActiveJob& job, JobEvent event, VideoState state, absl::Status error);
  void OnEnded(const std::string& id, Video video, uint64_t sequence, const absl::Status& saved);
  // A success that the store could not take is none.
  void KeepFailure(ActiveJob& job, Video& video, const absl::Status& saved);

  const Parts parts_;
};

}  // namespace reel::front
