// SPDX-License-Identifier: Apache-2.0
// Series of videos and queues in jobs/, of their experiments, and of the traces that are sent of
// them.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/front/jobs/job_observer.h"
#include "server/front/metrics/call_metrics.h"
#include "server/front/metrics/worker_metrics.h"
#include "server/front/traces/trace_observer.h"

namespace reel::front {

// A/B experiments as series: ends of their videos, and what a step takes.
// Thread-safe.
class ExperimentMetrics {
 public:
  // `arms`: each experiment's name with one of its arms'; all there will ever be.
  ExperimentMetrics(prometheus::Registry& registry,
                    const std::vector<std::pair<std::string, std::string>>& arms);

  // `outcome` as reel_requests_total has it. A video of no experiment is not counted.
  void Ended(const Video& video, const std::string& outcome);
  // Of a known experiment's last arm against its first.
  void ShadowEnded(const ShadowResult& result);
  void StepsCompared(const std::string& experiment, const Ratio& ratio);

 private:
  // After the arms.
  void AddShadows(prometheus::Registry& registry);

  struct Arm {
    std::map<std::string, prometheus::Counter*> requests;  // by outcome
    prometheus::Counter* step_seconds = nullptr;
    prometheus::Counter* steps = nullptr;
  };

  std::map<std::pair<std::string, std::string>, Arm> arms_;
  std::map<std::string, std::string> second_arms_;  // by experiment
  struct Shadows {
    std::map<ShadowOutcome, prometheus::Counter*> ended;
    prometheus::Histogram* psnr_db = nullptr;
  };

  std::map<std::string, Shadows> shadows_;  // by experiment
  prometheus::Family<prometheus::Gauge>& step_ratio_;
};

// Series of kept states and of the bytes that tenants may keep.
class StateMetrics {
 public:
  // `tenants`: as of JobMetrics.
  StateMetrics(prometheus::Registry& registry, const std::vector<std::string>& tenants);
  void Ended(StateEnd how) { ends_[static_cast<size_t>(how)]->Increment(); }
  void Set(const QueueGauges& gauges);

 private:
  static constexpr size_t kEnds = 4;
  std::array<prometheus::Counter*, kEnds> ends_{};  // by StateEnd
  prometheus::Counter& damaged_;
  prometheus::Family<prometheus::Gauge>&stored_, &limits_;
  std::set<std::string> tenants_;  // that have a label value of their own
};

// Series of videos and queues in jobs/.
// Thread-safe, though jobs/ calls from one thread.
class JobMetrics final : public JobObserver {
 public:
  // `tenants`: configured names that get a label value of their own, at most 16.
  JobMetrics(prometheus::Registry& registry, RefusalMetrics& refusals, WorkerMetrics& workers,
             ExperimentMetrics& experiments, const std::vector<std::string>& tenants);

  void JobEnded(const Video& video, bool detached) override;
  void StateEnded(StateEnd how) override { states_.Ended(how); }
  void StepsCompared(const std::string& experiment, const Ratio& ratio) override {
    experiments_.StepsCompared(experiment, ratio);
  }
  void ShadowEnded(const ShadowResult& result) override { experiments_.ShadowEnded(result); }
  void JobRefused(const absl::Status& why, bool detached) override {
    refusals_.Refused(why, detached);
  }
  void JobStarted(const Video& video, absl::Duration queued) override;
  void JobRestarted() override { restarted_.Increment(); }
  void JobPreempted() override { preempted_.Increment(); }
  void CancelDone(absl::Duration took) override {
    cancel_duration_.Observe(absl::ToDoubleSeconds(took));
  }
  void Stepped(const std::string& worker, const StepSample& sample) override {
    workers_.Stepped(worker, sample);
  }
  void PromptsRead(const model::PromptCounts& prompts) override { workers_.PromptsRead(prompts); }
  void AdaptersUploaded(const std::string& model, const model::AdapterCounts& adapters) override {
    workers_.AdaptersUploaded(model, adapters);
  }
  void WorkerHolds(const std::string& worker, const HeldBytes& held) override {
    workers_.Holds(worker, held);
  }
  void WarmedUp(const std::string& worker, const reel::WarmedUp& video) override {
    workers_.WarmedUp(worker, video);
  }
  void ModelLoaded(const std::string& worker) override { workers_.ModelLoaded(worker); }
  void ModelPutOut(const std::string& worker) override { workers_.ModelPutOut(worker); }
  void WorkerChanged(const WorkerInfo& worker) override { workers_.Changed(worker); }
  void WorkerLost(const std::string& worker, LossCause cause) override {
    workers_.Lost(worker, cause);
  }
  void Gauges(const QueueGauges& gauges) override;
  void TimeLeftChecked(absl::Duration told, absl::Duration actual) override;
  void EnergyTaken(const std::string& worker, double joules) override {
    workers_.EnergyTaken(worker, joules);
  }
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
  std::vector<prometheus::Counter*> finished_;  // a counter for each row of kFinished
  std::vector<prometheus::Gauge*> gauges_;      // of kGauges
  StateMetrics states_;
  prometheus::Histogram& cancel_duration_;
  prometheus::Counter& restarted_;
  prometheus::Counter& preempted_;
  prometheus::Family<prometheus::Counter>& adapter_jobs_;
  std::set<std::string> adapters_;  // that have a label value of their own
  ModelMetrics models_;
  prometheus::Histogram& eta_error_;
  prometheus::Histogram& estimate_error_;
  prometheus::Counter& within_p90_;
  prometheus::Counter& above_p90_;
};

// Series of traces by outcome.
// Thread-safe.
class TraceMetrics final : public TraceObserver {
 public:
  explicit TraceMetrics(prometheus::Registry& registry);

  void TracesEnded(TraceEnd how, int count) override {
    ends_[static_cast<size_t>(how)]->Increment(count);
  }
  void SpansRefused(int64_t count) override {
    refused_spans_->Increment(static_cast<double>(count));
  }

 private:
  static constexpr size_t kEnds = 4;

  std::array<prometheus::Counter*, kEnds> ends_{};
  prometheus::Counter* refused_spans_;
};

}  // namespace reel::front
