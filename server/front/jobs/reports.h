// SPDX-License-Identifier: Apache-2.0
// Handles reports of workers about themselves, their models, and jobs that run.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/front/jobs/byte_quota.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/step_limits.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// What became of bytes that a worker sent.
struct MediaGrowth {
  absl::StatusOr<int64_t> size;  // of the file now
  bool fragment_end = false;
  std::string content_type;  // of a file's first bytes
};

// Confined to the dispatcher's thread.
class Reports {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    JobRecords& records;
    Fleet& fleet;
    CostModel& costs;
    const ByteQuota& bytes;
    ProgressLog& progress;
    Endings& endings;
    StepLimits& limits;
    JobObserver& observer;
    const Clock& clock;
  };
  explicit Reports(const Parts& parts) : parts_(parts) {}

  void WorkerChanged(const WorkerInfo& worker);
  void On(const WorkerReport& from, const ModelLoaded& loaded);
  void On(const WorkerReport& from, const ModelKnown& known);
  void On(const WorkerReport& from, const ModelFailed& failed);
  void On(const WorkerReport& from, const Stepped& stepped);
  void On(const WorkerReport& from, const JobProgress& progress);
  void On(const WorkerReport& from, JobPreview preview);
  // The media store has taken what the worker sent, or could not.
  void MediaAppended(const JobRef& ref, const MediaGrowth& growth);

 private:
  // How long it took, from the command on.
  void NoteLoad(const std::string& worker, const ModelLoaded& loaded);
  // Jobs that were taken up before any card of their model was known.
  void ShapeWaiting(const model::ModelCard& card);
  void StartRun(ActiveJob& job);
  void NoteRun(const ActiveJob& job, HeldJob& held);
  bool IsShadow(const std::string& worker, const StepSample& sample) const;
  SeenStep SeenOf(const std::string& worker, const StepSample& sample) const;
  void Learn(const std::string& worker, const StepSample& sample);
  void GrowMedia(ActiveJob& job, const MediaGrowth& growth);

  const Parts parts_;
};

}  // namespace reel::front
