// SPDX-License-Identifier: Apache-2.0
// Finds, lists and deletes videos that ended here; deletes the media first, then the row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// The error for deleting a video that has not ended.
absl::Status VideoNotFinal(const std::string& id);

// Confined to the dispatcher's thread. What it is given outlives it.
class StoredVideos {
 public:
  StoredVideos(DispatcherState& state, const DispatcherPorts& ports, JobRecords& records)
      : state_(state), ports_(ports), records_(records) {}

  // Finds live videos as well.
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done);
  void List(const ListQuery& query, Answer<ListPage> done);
  // The owner deletes a final video.
  void Delete(const Reach& reach, const std::string& id, JobStore::Done done);
  // Removes all expired videos, then calls `done`, which may be null.
  void Reap(absl::AnyInvocable<void()> done);

 private:
  void Remove(const JobRow& row, JobStore::Done done);
  void OnRemoved(const JobRow& row, const absl::Status& status);
  void RemoveAll(const std::vector<JobRow>& rows, absl::AnyInvocable<void()> done);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
};

}  // namespace reel::front
