// SPDX-License-Identifier: Apache-2.0
// Cancels that clients cause: by CancelVideo, or because the last call on a bound video has ended.
#pragma once

#include <string>

#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/lookups.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Cancels {
 public:
  Cancels(JobTable& jobs, Endings& endings, Lookups& lookups)
      : jobs_(jobs), endings_(endings), lookups_(lookups) {}

  void Cancel(const Reach& reach, const std::string& id, Answer<Video> done);
  void Leave(const std::string& id, LeaveReason reason);

 private:
  JobTable& jobs_;
  Endings& endings_;
  Lookups& lookups_;
};

}  // namespace reel::front
