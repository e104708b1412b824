// SPDX-License-Identifier: Apache-2.0
// Jobs that a log has and that are this server's to run, until it is told otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/load_figures.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/revival.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/store/media_store.h"

namespace reel::front {

struct AdoptedJob {
  Video video;         // as it was admitted
  uint32_t epoch = 1;  // by which it is this server's
  int attempt = 1;     // above all that this server has made for it
  // Bytes of the conditions of its spec, in their order; of a promotion the state that it begins
  // from, alone.
  std::vector<MediaStore::Blob> conditions = {};
};

// Confined to the dispatcher's thread.
class Adoption {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    JobRecords& records;
    Slots& slots;
    Endings& endings;
    FairShare& share;
    TimerQueue& timers;
    ProgressLog& progress;
    const Revival& revival;
    const LoadFigures& load;
    MediaStore& media;
  };
  explicit Adoption(const Parts& parts) : parts_(parts) {}

  // Takes the place of its reservation, if it has one. UNAVAILABLE while an earlier attempt of the
  // same video still ends here.
  void Adopt(AdoptedJob adopted, Answer<std::shared_ptr<Job>> done);
  // It is another's now: it stops, and nobody is told of an end. Of one whose end is decided the
  // journal says the same.
  void Abandon(const std::string& id);
  // Its end is wished for. `why`: DEADLINE_PASSED, OWNER_LEFT, or else CANCELLED_BY_OWNER.
  void End(const std::string& id, const absl::Status& why);
  // Abandons what no worker has; their ids.
  std::vector<std::string> AbandonUnsent();

 private:
  void TellPlace(ActiveJob& job);

  const Parts parts_;
};

}  // namespace reel::front
