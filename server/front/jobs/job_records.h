// SPDX-License-Identifier: Apache-2.0
// The stored rows of jobs. Every change of a live job's row goes through Record.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/front/jobs/active_job.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/removals.h"
#include "server/front/jobs/row_event.h"
#include "server/front/jobs/video_serializer.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to the dispatcher's thread; answers come on it, as events of their own. What it is given
// outlives it.
class JobRecords {
 public:
  using Done = JobStore::Done;
  template <typename T>
  using Reply = JobStore::Reply<T>;

  JobRecords(JobStore& store, const MediaStore& media, const VideoSerializer& serializer,
             Removals& removals, const OwnThread& thread);

  void Create(const ActiveJob& job, Done done);
  // Applies the event to the job's row and writes the row, with the video of its log or, when the
  // log will show it only after the write, with `video`. A success is durable before `done`, which
  // may be null; the log of videos has all else.
  void Record(ActiveJob& job, const RowEvent& event, Done done);
  void Record(ActiveJob& job, const RowEvent& event, const Video& video, Done done);

  void Find(const std::string& id, Reply<std::optional<JobRow>> reply);
  void Page(PageQuery query, Reply<std::vector<JobRow>> reply);
  void Expired(absl::Time now, int limit, Reply<std::vector<JobRow>> reply);
  void Remove(const std::string& id, Done done);

  void KeepCard(const model::ModelCard& card);
  // `use`: TenantLedger::Keep.
  void KeepUse(const std::string& tenant, const std::string& use);

  absl::StatusOr<Video> Read(const JobRow& row) const;
  // NOT_FOUND for a video that is being removed.
  absl::StatusOr<std::shared_ptr<LoggedJob>> ReadBack(const JobRow& row);

 private:
  JobStore& store_;
  const MediaStore& media_;
  const VideoSerializer& serializer_;
  Removals& removals_;
  const OwnThread& thread_;
};

}  // namespace reel::front
