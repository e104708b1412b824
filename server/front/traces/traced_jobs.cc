// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/traced_jobs.h"

#include "server/front/traces/video_trace.h"

namespace reel::front {

void TracedJobs::JobEnded(const Video& video, bool detached) {
  next_.JobEnded(video, detached);
  if (IsTraced(video, share_)) exporter_.Add(TraceOf(video, detached));
}

void TracedJobs::JobRefused(const absl::Status& why, bool detached) {
  next_.JobRefused(why, detached);
}
void TracedJobs::JobStarted(const Video& video, absl::Duration queued) {
  next_.JobStarted(video, queued);
}
void TracedJobs::JobRestarted() { next_.JobRestarted(); }
void TracedJobs::JobPreempted() { next_.JobPreempted(); }
void TracedJobs::CancelDone(absl::Duration took) { next_.CancelDone(took); }
void TracedJobs::Stepped(const std::string& worker, const StepSample& sample) {
  next_.Stepped(worker, sample);
}
void TracedJobs::PromptsRead(const model::PromptCounts& prompts) { next_.PromptsRead(prompts); }
void TracedJobs::WarmedUp(const std::string& worker, const reel::WarmedUp& video) {
  next_.WarmedUp(worker, video);
}
void TracedJobs::ModelLoaded(const std::string& worker) { next_.ModelLoaded(worker); }
void TracedJobs::ModelPutOut(const std::string& worker) { next_.ModelPutOut(worker); }
void TracedJobs::WorkerChanged(const WorkerInfo& worker) { next_.WorkerChanged(worker); }
void TracedJobs::WorkerLost(const std::string& worker, LossCause cause) {
  next_.WorkerLost(worker, cause);
}
void TracedJobs::Gauges(const QueueGauges& gauges) { next_.Gauges(gauges); }
void TracedJobs::EstimateChecked(absl::Duration estimated, absl::Duration actual, bool within_p90) {
  next_.EstimateChecked(estimated, actual, within_p90);
}

}  // namespace reel::front
