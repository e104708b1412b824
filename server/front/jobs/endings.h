// SPDX-License-Identifier: Apache-2.0
// Ends jobs. The end that is decided first stands, and is in the log before anybody sees it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/errors/reason.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/end_journal.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/video.h"
#include "server/logging/log.h"

namespace reel::front {

// The line of the log that says how a job ended and what it cost. Of the caller's words only a
// request id and a trace id are in it, which are checked. No prompt, label or file name is, and of
// an error only its reason.
std::vector<Field> EndFields(const Video& video);
void LogEnd(const Video& video);

// Confined to the dispatcher's thread. What it is given outlives it.
class Endings {
 public:
  Endings(DispatcherState& state, const DispatcherPorts& ports, JobRecords& records, Slots& slots,
          EndJournal& journal, EndListener* listener)
      : state_(state),
        ports_(ports),
        records_(records),
        slots_(slots),
        journal_(journal),
        listener_(listener) {}

  // An error with the name and the steps of the job.
  static absl::Status ErrorOf(const ActiveJob& job, Reason reason, std::string_view message);

  // `event`: kEnded, kFailed or kSpoiled. Does nothing when the end of the job is already decided.
  void Cancel(ActiveJob& job, Reason reason, std::string_view message);
  void Fail(ActiveJob& job, JobEvent event, absl::Status error);
  void FailByDeadline(ActiveJob& job, JobEvent event);
  // The media file is complete.
  void Succeed(ActiveJob& job, Video video, const MediaDigest& digest);
  // It was this server's and is another's: all of it goes, and it is no end. Of one whose end is
  // decided the journal says the same.
  void Abandon(ActiveJob& job);

 private:
  void End(ActiveJob& job, JobEvent event, VideoState state, absl::Status error);
  // What an attempt that came to nothing has cost, and where its time went.
  model::RunStats Bill(const ActiveJob& job) const;
  // The parts of a run that ends now.
  void Close(const ActiveJob& job, model::RunStats& stats) const;
  // The end is decided, and counts once the journal says so.
  void Write(ActiveJob& job, const Video& video, uint64_t sequence);
  // A result is durable before the journal is asked.
  void StoreResult(ActiveJob& job, const RowSucceeded& event, const Video& video);
  // It is another server's. No worker has it.
  void Forget(ActiveJob& job);
  // The next process of this server ends it.
  void Leave(ActiveJob& job);
  void OnEnded(ActiveJob& job, Video video, uint64_t sequence);
  // The store could not take it: a success becomes a failure.
  void FailResult(ActiveJob& job, Video& video, const absl::Status& saved);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  Slots& slots_;
  EndJournal& journal_;
  EndListener* const listener_;  // may be missing
};

}  // namespace reel::front
