// SPDX-License-Identifier: Apache-2.0
// Removes stored videos: first the media, then the row.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/removals.h"
#include "server/front/jobs/replica.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class Expiry {
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
  explicit Expiry(const Parts& parts) : parts_(parts) {}

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
