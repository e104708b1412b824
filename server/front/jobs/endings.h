// SPDX-License-Identifier: Apache-2.0
// Ends jobs. The first decided end stands, and is in the log before anybody sees it.
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

// Fields of the log line about a job's end and cost. Of the caller's input it has only the request
// id and trace id, which are checked: no prompt, label or file name, and of an error only its
// reason.
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

  // `event`: kEnded, kFailed or kSpoiled. Does nothing if the job's end is already decided.
  void Cancel(ActiveJob& job, Reason reason, std::string_view message);
  void Fail(ActiveJob& job, JobEvent event, absl::Status error);
  void FailByDeadline(ActiveJob& job, JobEvent event);
  // The media file is complete.
  void Succeed(ActiveJob& job, Video video, const MediaDigest& digest);
  // Another server has the job now: drops everything without an end. If its end is decided already,
  // the journal answers likewise.
  void Abandon(ActiveJob& job);

 private:
  void End(ActiveJob& job, JobEvent event, VideoState state, absl::Status error);
  // Cost and times of an attempt without a result.
  model::RunStats Bill(const ActiveJob& job) const;
  // Completes the times of a run that ends now.
  void Close(const ActiveJob& job, model::RunStats& stats) const;
  // Writes a decided end, which counts once the journal confirms it.
  void Write(ActiveJob& job, const Video& video, uint64_t sequence);
  // Makes a result durable before asking the journal.
  void StoreResult(ActiveJob& job, const RowSucceeded& event, const Video& video);
  // Drops a job of another server that no worker has.
  void Forget(ActiveJob& job);
  // Leaves the end to this server's next process.
  void Leave(ActiveJob& job);
  void OnEnded(ActiveJob& job, Video video, uint64_t sequence);
  // Turns a success that could not be stored into a failure.
  void FailResult(ActiveJob& job, Video& video, const absl::Status& saved);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  Slots& slots_;
  EndJournal& journal_;
  EndListener* const listener_;  // may be null
};

}  // namespace reel::front
