// SPDX-License-Identifier: Apache-2.0
// Jobs that a log has and that are this server's to run, until it is told otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/front/jobs/admission.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/quotes.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/stored_videos.h"

namespace reel::front {

// A job that its log says is this server's, as the scheduler knows it.
// Confined to one thread. What it is given outlives it.
class Revival {
 public:
  Revival(const DispatcherState& state, const DispatcherPorts& ports, const Admission& admission)
      : state_(state), ports_(ports), admission_(admission) {}

  // Queued, with what is left of its time. Numbers of its log are above `after`. `condition_bytes`:
  // of the files that came with it.
  ActiveJob Revive(JobRow row, const Video& video, uint64_t after, int64_t condition_bytes) const;

 private:
  // Of the first worker that could run it; empty: there is none.
  std::string WhereOf(const Need& need) const;
  void Reserve(ActiveJob& job, const model::GenerationSpec& spec) const;

  const DispatcherState& state_;
  const DispatcherPorts& ports_;
  const Admission& admission_;
};

// Numbers of an owner's log are above those of the owners before it.
inline constexpr uint64_t kSequencesPerEpoch = 1'000'000;

struct AdoptedJob {
  Video video;         // as it was admitted
  uint32_t epoch = 1;  // by which it is this server's
  int attempt = 1;     // above all that this server has made for it
  // Bytes of the conditions of its spec, in their order; of a promotion the state that it begins
  // from, alone.
  std::vector<MediaStore::Blob> conditions = {};
};

// Confined to the dispatcher's thread. What it is given outlives it.
class Adoption {
 public:
  Adoption(DispatcherState& state, const DispatcherPorts& ports, const Admission& admission,
           JobRecords& records, Endings& endings, ProgressLog& progress)
      : state_(state),
        ports_(ports),
        records_(records),
        endings_(endings),
        progress_(progress),
        revival_(state, ports, admission) {}

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
  Outlook OutlookOf(const ActiveJob& job) const;

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  Endings& endings_;
  ProgressLog& progress_;
  const Revival revival_;
};

}  // namespace reel::front
