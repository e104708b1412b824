// SPDX-License-Identifier: Apache-2.0
// Series of videos and queues in jobs/.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/front/jobs/job_observer.h"
#include "server/front/metrics/experiment_metrics.h"
#include "server/front/metrics/model_metrics.h"
#include "server/front/metrics/refusal_metrics.h"
#include "server/front/metrics/worker_metrics.h"

namespace reel::front {

// Thread-safe, though jobs/ calls from one thread.
class JobMetrics final : public JobObserver {
 public:
  // `tenants`: configured names that get a label value of their own, at most 16.
  JobMetrics(prometheus::Registry& registry, RefusalMetrics& refusals, WorkerMetrics& workers,
             ExperimentMetrics& experiments, const std::vector<std::string>& tenants);

  void JobEnded(const Video& video, bool detached) override;
  void StepsCompared(const std::string& experiment, const Ratio& ratio) override;
  void ShadowEnded(const ShadowResult& result) override;
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
  void TimeLeftChecked(absl::Duration told, absl::Duration actual) override;
  void EnergyTaken(const std::string& worker, double joules) override;
  void EstimateChecked(absl::Duration estimated, absl::Duration actual, bool within_p90) override;

 private:
  void CountAdapters(const model::GenerationSpec& spec);
  void CountStages(const model::RunStats& stats);

  RefusalMetrics& refusals_;
  WorkerMetrics& workers_;
  ExperimentMetrics& experiments_;
  std::map<std::string, prometheus::Counter*> tenant_seconds_;  // "other" is there
  std::map<bool, prometheus::Histogram*> request_duration_;     // by detached
  std::map<Priority, prometheus::Histogram*> queue_duration_;
  std::map<std::string, prometheus::Histogram*> stage_duration_;
  prometheus::Histogram& cancel_duration_;
  prometheus::Counter& frames_;
  prometheus::Counter& sound_;
  prometheus::Counter& output_bytes_;
  prometheus::Counter& restarted_;
  prometheus::Counter& preempted_;
  prometheus::Family<prometheus::Counter>& adapter_jobs_;
  std::set<std::string> adapters_;  // that have a label value of their own
  prometheus::Gauge& queue_depth_;
  prometheus::Gauge& backlog_;
  prometheus::Gauge& capacity_;
  prometheus::Gauge& device_capacity_;
  prometheus::Gauge& inflight_;
  prometheus::Gauge& store_bytes_;
  prometheus::Gauge& state_bytes_;
  prometheus::Gauge& store_limit_;
  ModelMetrics models_;
  prometheus::Histogram& eta_error_;
  prometheus::Histogram& estimate_error_;
  prometheus::Counter& within_p90_;
  prometheus::Counter& above_p90_;
};

}  // namespace reel::front
