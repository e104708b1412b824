// SPDX-License-Identifier: Apache-2.0
// Videos that have ended here, by name and in pages, from the store.
#pragma once

#include <memory>
#include <string>

#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/replica.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Lookups {
 public:
  Lookups(JobTable& jobs, JobRecords& records, const Replica& replica)
      : jobs_(jobs), records_(records), replica_(replica) {}

  // One that has not ended is found, too.
  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done);
  void List(const ListQuery& query, Answer<ListPage> done);

 private:
  JobTable& jobs_;
  JobRecords& records_;
  const Replica& replica_;
};

}  // namespace reel::front
