// SPDX-License-Identifier: Apache-2.0
// Jobs that the log assigns to this server, until it says otherwise.
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

// Makes a scheduler's job of a video that the log assigns to this server. Confined to one thread.
// Arguments outlive it.
class Revival {
 public:
  Revival(const DispatcherState& state, const DispatcherPorts& ports, const Admission& admission)
      : state_(state), ports_(ports), admission_(admission) {}

  // Returns a queued job with its remaining time. Its log's numbers are above `after`.
  // `condition_bytes`: size of its files.
  ActiveJob Revive(JobRow row, const Video& video, uint64_t after, int64_t condition_bytes) const;

 private:
  // Place of the first worker that could run it; empty if there is none.
  std::string WhereOf(const Need& need) const;
  void Reserve(ActiveJob& job, const model::GenerationSpec& spec) const;

  const DispatcherState& state_;
  const DispatcherPorts& ports_;
  const Admission& admission_;
};

// Numbers reserved for each owner's log, so that they are above those of earlier owners.
inline constexpr uint64_t kSequencesPerEpoch = 1'000'000;

struct AdoptedJob {
  Video video;         // as it was admitted
  uint32_t epoch = 1;  // of this server's claim
  int attempt = 1;     // above all that this server has made for it
  // Bytes of its spec's conditions, in order; for a promotion only the state that it starts from.
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

  // Replaces its reservation, if there is one. UNAVAILABLE while an earlier attempt of the video is
  // still ending here.
  void Adopt(AdoptedJob adopted, Answer<std::shared_ptr<Job>> done);
  // Another server has the video now: stops it without an end. If its end is decided already, the
  // journal answers likewise.
  void Abandon(const std::string& id);
  // Ends the job on request. `why`: DEADLINE_PASSED, OWNER_LEFT, or else CANCELLED_BY_OWNER.
  void End(const std::string& id, const absl::Status& why);
  // Abandons jobs that no worker has, and returns their ids.
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
