// SPDX-License-Identifier: Apache-2.0
// Videos that have ended here: found, listed, and removed, first the media, then the row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/removals.h"
#include "server/front/jobs/replica.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class StoredVideos {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    JobRecords& records;
    Removals& removals;
    MediaStore& media;
    TenantLedger& ledger;
    const Replica& replica;
    const OwnThread& thread;
    const Clock& clock;
  };
  explicit StoredVideos(const Parts& parts) : parts_(parts) {}

  // One that has not ended is found, too.
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

  const Parts parts_;
};

}  // namespace reel::front
