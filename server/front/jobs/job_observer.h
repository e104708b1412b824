// SPDX-License-Identifier: Apache-2.0
// Interface for the metrics of jobs/. Jobs are counted at their end, so that counts match
// latencies. Called on the dispatcher's thread.
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

// Gauges of a served model.
struct ModelGauges {
  std::string_view name;
  const model::ModelCard* card = nullptr;  // null if not known yet
  bool ready = false;                      // on some worker
  double oldest_wait_seconds = 0;          // of the job that has waited longest; 0: none waits
};

// Gauges of a tenant with a limit of bytes.
struct TenantGauges {
  std::string_view name;
  int64_t stored_bytes = 0;
  int64_t limit_bytes = 0;
};

// Outcome of keeping a video's state. kNoRoom: its tenant's bytes are used up. kTooLarge: above
// `state.max_bytes`, or together with others in flight above twice that.
enum class StateEnd { kKept, kNoRoom, kTooLarge, kFailed };

struct QueueGauges {
  int queued = 0;
  int running = 0;
  double backlog_seconds = 0;
  double capacity_seconds = 0;
  double device_capacity_seconds = 0;  // added by each ready device
  int64_t stored_bytes = 0;
  int64_t stored_limit_bytes = 0;
  // Kept states; of the whole fleet, if there is one.
  int64_t state_bytes = 0;
  int64_t states = 0;
  int64_t expired_states = 0;  // expired before their videos
  int64_t damaged_states = 0;  // found by this process
  std::vector<TenantGauges> tenants;
  std::vector<ModelGauges> models;
};

class JobObserver {
 public:
  virtual ~JobObserver() = default;
  // A job has ended. `detached`: mode "async", else "stream".
  virtual void JobEnded(const Video& video, bool detached) = 0;
  virtual void StateEnded(StateEnd how) = 0;
  // Reports the ratio of the arms' step times, after each video once there are enough.
  virtual void StepsCompared(const std::string& experiment, const Ratio& ratio) = 0;
  virtual void ShadowEnded(const ShadowResult& result) = 0;
  virtual void JobRefused(const absl::Status& why, bool detached) = 0;
  virtual void JobStarted(const Video& video, absl::Duration queued) = 0;
  virtual void JobRestarted() = 0;
  // A running job was parked for another.
  virtual void JobPreempted() = 0;
  // `took`: from the request to the free slot.
  virtual void CancelDone(absl::Duration took) = 0;
  virtual void Stepped(const std::string& worker, const StepSample& sample) = 0;
  // Texts that a worker encoded since its last report.
  virtual void PromptsRead(const model::PromptCounts& prompts) = 0;
  // Adapters that a model copied to its device since the worker's last report.
  virtual void AdaptersUploaded(const std::string& model, const model::AdapterCounts& adapters) = 0;
  // Memory of a worker's models, by its latest report.
  virtual void WorkerHolds(const std::string& worker, const HeldBytes& held) = 0;
  virtual void WarmedUp(const std::string& worker, const reel::WarmedUp& video) = 0;
  // A model was loaded on a worker, or unloaded there for another one.
  virtual void ModelLoaded(const std::string& worker) = 0;
  virtual void ModelPutOut(const std::string& worker) = 0;
  virtual void WorkerChanged(const WorkerInfo& worker) = 0;
  virtual void WorkerLost(const std::string& worker, LossCause cause) = 0;
  virtual void Gauges(const QueueGauges& gauges) = 0;
  // The remaining time reported at a fifth of a run, and the actual one.
  virtual void TimeLeftChecked(absl::Duration told, absl::Duration actual) = 0;
  virtual void EnergyTaken(const std::string& worker, double joules) = 0;
  virtual void EstimateChecked(absl::Duration estimated, absl::Duration actual,
                               bool within_p90) = 0;
};

// Interface for ended jobs only.
class EndListener {
 public:
  virtual ~EndListener() = default;
  // Called on the dispatcher's thread, after the metrics; must not block. `detached` as there.
  virtual void JobEnded(const Video& video, bool detached) = 0;
};

}  // namespace reel::front
