// SPDX-License-Identifier: Apache-2.0
// Hands the traces of videos that end to the exporter, and everything on to the metrics.
#pragma once

#include <string>

#include "server/front/jobs/job_observer.h"
#include "server/front/traces/trace_exporter.h"

namespace reel::front {

// Called on the dispatcher's thread, as the one behind it.
class TracedJobs final : public JobObserver {
 public:
  // `next` and `exporter` outlive it. `share`: of the videos whose callers leave it open.
  TracedJobs(JobObserver& next, TraceExporter& exporter, double share)
      : next_(next), exporter_(exporter), share_(share) {}

  void JobEnded(const Video& video, bool detached) override;
  void JobRefused(const absl::Status& why, bool detached) override;
  void JobStarted(const Video& video, absl::Duration queued) override;
  void JobRestarted() override;
  void JobPreempted() override;
  void CancelDone(absl::Duration took) override;
  void Stepped(const std::string& worker, const StepSample& sample) override;
  void PromptsRead(const model::PromptCounts& prompts) override;
  void WarmedUp(const std::string& worker, const reel::WarmedUp& video) override;
  void ModelLoaded(const std::string& worker) override;
  void ModelPutOut(const std::string& worker) override;
  void WorkerChanged(const WorkerInfo& worker) override;
  void WorkerLost(const std::string& worker, LossCause cause) override;
  void Gauges(const QueueGauges& gauges) override;
  void EstimateChecked(absl::Duration estimated, absl::Duration actual, bool within_p90) override;

 private:
  JobObserver& next_;
  TraceExporter& exporter_;
  const double share_;
};

}  // namespace reel::front
