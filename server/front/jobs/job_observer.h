// SPDX-License-Identifier: Apache-2.0
// Events of jobs/ for the metrics, counted at the end so that counts match latencies. Called on the
// dispatcher's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/statistics/log_ratio.h"
#include "model/model_card.h"
#include "server/front/jobs/shadows/shadow_result.h"
#include "server/front/jobs/video.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Of a model that is served.
struct ModelGauges {
  std::string_view name;
  const model::ModelCard* card = nullptr;  // null: not known yet
  bool ready = false;                      // on some worker
  double oldest_wait_seconds = 0;          // of the job that has waited longest; 0: none waits
};

// Of a tenant that may keep so many bytes.
struct TenantGauges {
  std::string_view name;
  int64_t stored_bytes = 0;
  int64_t limit_bytes = 0;
};

// What came of the state that a video was to keep. No room: in its tenant's bytes. Too large: above
// `state.max_bytes`, or with others on their way above twice that.
enum class StateEnd { kKept, kNoRoom, kTooLarge, kFailed };

struct QueueGauges {
  int queued = 0;
  int running = 0;
  double backlog_seconds = 0;
  double capacity_seconds = 0;
  double device_capacity_seconds = 0;  // what each ready device adds to it
  int64_t stored_bytes = 0;
  int64_t stored_limit_bytes = 0;
  // Of kept states, in a fleet of all of it.
  int64_t state_bytes = 0;
  int64_t states = 0;
  int64_t expired_states = 0;  // of videos that are kept longer
  int64_t damaged_states = 0;  // found here so far
  std::vector<TenantGauges> tenants;
  std::vector<ModelGauges> models;
};

class JobObserver {
 public:
  virtual ~JobObserver() = default;
  // A job reached its end; `detached` tells the mode ("async" against "stream").
  virtual void JobEnded(const Video& video, bool detached) = 0;
  virtual void StateEnded(StateEnd how) = 0;
  // What a step of the experiment's second arm takes against one of the first, once it has enough
  // videos, after each further one.
  virtual void StepsCompared(const std::string& experiment, const Ratio& ratio) = 0;
  virtual void ShadowEnded(const ShadowResult& result) = 0;
  virtual void JobRefused(const absl::Status& why, bool detached) = 0;
  virtual void JobStarted(const Video& video, absl::Duration queued) = 0;
  virtual void JobRestarted() = 0;
  // A running job was parked for another.
  virtual void JobPreempted() = 0;
  // From the request to the free slot.
  virtual void CancelDone(absl::Duration took) = 0;
  virtual void Stepped(const std::string& worker, const StepSample& sample) = 0;
  // Texts that a worker has read since it said so last.
  virtual void PromptsRead(const model::PromptCounts& prompts) = 0;
  // Adapters that a model has brought to its device since the worker said so last.
  virtual void AdaptersUploaded(const std::string& model, const model::AdapterCounts& adapters) = 0;
  // Memory that a worker's models hold, as its latest report says.
  virtual void WorkerHolds(const std::string& worker, const HeldBytes& held) = 0;
  virtual void WarmedUp(const std::string& worker, const reel::WarmedUp& video) = 0;
  // A model serves on a worker, or has made way there for another one.
  virtual void ModelLoaded(const std::string& worker) = 0;
  virtual void ModelPutOut(const std::string& worker) = 0;
  virtual void WorkerChanged(const WorkerInfo& worker) = 0;
  virtual void WorkerLost(const std::string& worker, LossCause cause) = 0;
  virtual void Gauges(const QueueGauges& gauges) = 0;
  // What was said of the time left at a fifth of the way, and what it came to.
  virtual void TimeLeftChecked(absl::Duration told, absl::Duration actual) = 0;
  virtual void EnergyTaken(const std::string& worker, double joules) = 0;
  virtual void EstimateChecked(absl::Duration estimated, absl::Duration actual,
                               bool within_p90) = 0;
};

// Whoever wants to hear of ended jobs and of nothing else.
class EndListener {
 public:
  virtual ~EndListener() = default;
  // On the dispatcher's thread, after the metrics; it must not wait. `detached` as the metrics'.
  virtual void JobEnded(const Video& video, bool detached) = 0;
};

}  // namespace reel::front
