// SPDX-License-Identifier: Apache-2.0
// From an accepted call to a queued job: admission, then the conditions' files, then the store.
#pragma once

#include <memory>
#include <string>

#include "server/front/jobs/clock.h"
#include "server/front/jobs/expiry.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/queue_order.h"
#include "server/front/jobs/quotes.h"
#include "server/front/jobs/request_table.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class Creation {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    JobRecords& records;
    RequestTable& requests;
    Quotes& quotes;
    Expiry& expiry;
    ProgressLog& progress;
    FairShare& share;
    TimerQueue& timers;
    MediaStore& media;
    JobObserver& observer;
    const Replica& replica;
    const OwnThread& thread;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit Creation(const Parts& parts) : parts_(parts) {}

  // The caller's request id, if it has one, is not taken.
  void Admit(Caller caller);
  void Refuse(Caller caller, const absl::Status& why);

  // For a log that is about to have the video: it counts as a job, under the id that it is given,
  // until it is adopted or its reservation is dropped.
  void Reserve(NewJob request, Answer<Video> done) {
    Reserve(std::move(request), false, std::move(done));
  }
  void DropReservation(const std::string& id);

 private:
  void Reserve(NewJob request, bool reaped, Answer<Video> done);
  // As a job that nobody knows yet.
  ActiveJob Make(const NewJob& request, CheckedRequest checked, Video video) const;
  void Begin(Caller caller, CheckedRequest checked);
  void KeepConditions(const std::string& id, Caller caller);
  void Store(const std::string& id, Caller caller);
  void OnCreated(const std::string& id, Caller caller, const absl::Status& created);
  void Abandon(const std::string& id, Caller caller, const absl::Status& why);

  const Parts parts_;
};

}  // namespace reel::front
