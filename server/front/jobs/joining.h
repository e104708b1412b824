// SPDX-License-Identifier: Apache-2.0
// Request ids: a call joins the job that has its id, or makes one. Calls with one id are looked
// after one by one, so that a hundred at once make one job.
#pragma once

#include "absl/status/statusor.h"
#include "server/front/jobs/creation.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/request_table.h"
#include "server/front/jobs/timer_queue.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Joining {
 public:
  Joining(JobTable& jobs, JobRecords& records, RequestTable& requests, Creation& creation,
          TimerQueue& timers, JobObserver& observer);

  // A call without a request id is admitted at once; another one is due.
  void Create(Caller caller);
  // Looks after the calls that are due, until they have to wait for somebody.
  void ServeDue();

 private:
  void Serve(const RequestKey& key);
  void OnRecord(const RequestKey& key, const absl::StatusOr<RequestRecord>& record);
  void Join(ActiveJob& job, Caller caller);
  void Detach(ActiveJob& job, Caller caller);

  JobTable& jobs_;
  JobRecords& records_;
  RequestTable& requests_;
  Creation& creation_;
  TimerQueue& timers_;
  JobObserver& observer_;
};

}  // namespace reel::front
