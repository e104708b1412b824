// SPDX-License-Identifier: Apache-2.0
// Handles reports of workers about themselves, their models, and jobs that run.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/progress_log.h"
#include "server/front/jobs/slots.h"

namespace reel::front {

// Outcome of storing bytes that a worker sent.
struct MediaGrowth {
  absl::StatusOr<int64_t> size;  // of the file now
  bool fragment_end = false;
  std::string content_type;  // of a file's first bytes
};

// Confined to the dispatcher's thread. What it is given outlives it.
class Reports {
 public:
  Reports(DispatcherState& state, const DispatcherPorts& ports, JobRecords& records,
          ProgressLog& progress, Endings& endings, StepLimits& limits)
      : state_(state),
        ports_(ports),
        records_(records),
        progress_(progress),
        endings_(endings),
        limits_(limits) {}

  void WorkerChanged(const WorkerInfo& worker);
  void On(const WorkerReport& from, const ModelLoaded& loaded);
  void On(const WorkerReport& from, const ModelKnown& known);
  void On(const WorkerReport& from, const ModelFailed& failed);
  void On(const WorkerReport& from, const Stepped& stepped);
  void On(const WorkerReport& from, const JobProgress& progress);
  void On(const WorkerReport& from, JobPreview preview);
  // The media store has stored a worker's bytes, or failed to.
  void MediaAppended(const JobRef& ref, const MediaGrowth& growth);

 private:
  // Notes how fast the worker copies weights.
  void NoteLink(const std::string& worker, const std::string& model);
  // Notes the duration of a load since its command.
  void NoteLoad(const std::string& worker, const ModelLoaded& loaded);
  // Completes jobs that were taken up before their model's card was known.
  void ShapeWaiting(const model::ModelCard& card);
  void StartRun(ActiveJob& job);
  void NoteRun(const ActiveJob& job, HeldJob& held);
  bool IsShadow(const std::string& worker, const StepSample& sample) const;
  SeenStep SeenOf(const std::string& worker, const StepSample& sample) const;
  void Learn(const std::string& worker, const StepSample& sample);
  void GrowMedia(ActiveJob& job, const MediaGrowth& growth);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  JobRecords& records_;
  ProgressLog& progress_;
  Endings& endings_;
  StepLimits& limits_;
};

}  // namespace reel::front
