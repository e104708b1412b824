// SPDX-License-Identifier: Apache-2.0
// The stored rows of jobs. Every change of a live job's row goes through Record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/video.h"
#include "server/front/store/job_store.h"

namespace reel::front {

// Events of a stored job.
struct RowStarted {};
struct RowRestarted {
  RestartRow restart;
};
struct RowSucceeded {
  absl::Time expire_time;
  int64_t media_bytes = 0;
  std::vector<int64_t> fragment_ends;
  uint64_t sequence = 0;  // of the final log entry
  BlockSums block_sums;
};
// Any end but a success.
struct RowFailed {
  VideoState state = VideoState::kFailed;
  absl::Time expire_time;
};
using RowEvent = std::variant<RowStarted, RowRestarted, RowSucceeded, RowFailed>;

// Applies an event to its row. Pure: the same events in the same order give the same row.
void Apply(const RowEvent& event, JobRow& row);

// Confined to the dispatcher's thread, on which callbacks run as events of their own. Arguments
// outlive it.
class JobRecords {
 public:
  using Done = JobStore::Done;
  template <typename T>
  using Reply = JobStore::Reply<T>;

  JobRecords(DispatcherState& state, const DispatcherPorts& ports) : state_(state), ports_(ports) {}

  void Create(const ActiveJob& job, Done done);
  // Applies the event to the job's row and writes it, with the job's video or, if that changes only
  // after the write, with `video`. A success is durable before `done`, which may be null; the
  // videos' log has everything else.
  void Record(ActiveJob& job, const RowEvent& event, Done done);
  void Record(ActiveJob& job, const RowEvent& event, const Video& video, Done done);

  void Find(const std::string& id, Reply<std::optional<JobRow>> reply);
  void Page(PageQuery query, Reply<std::vector<JobRow>> reply);
  void Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply);
  void Remove(const std::string& id, Done done);

  void KeepCard(const model::ModelCard& card);
  // Counts device time towards the tenant's hourly limit, whatever became of the video. Stored, so
  // that it survives a restart.
  void Charge(const std::string& tenant, absl::Duration device_time);

  absl::StatusOr<Video> Read(const JobRow& row) const;
  // NOT_FOUND for a video that is being removed.
  absl::StatusOr<std::shared_ptr<LoggedJob>> ReadBack(const JobRow& row);

 private:
  DispatcherState& state_;
  const DispatcherPorts& ports_;
};

}  // namespace reel::front
