// SPDX-License-Identifier: Apache-2.0
// Devices and their steps as series. The label "device" is the worker's configured name, which is
// unique; reel_worker_info tells what it stands for.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/errors/reason.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/metrics/adapter_metrics.h"
#include "server/front/metrics/families.h"
#include "server/front/metrics/sharing_metrics.h"
#include "server/front/workers/worker_pool.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// The time of operators, estimated from the pieces of work that were timed. A piece that was not
// timed is taken to be like the next timed one of its kind. So the estimates sum to all of the time
// up to that piece.
struct OperatorSeconds {
  std::string op, variant;  // op "gaps", without a variant: between operators
  double seconds = 0;
};

// Thread-safe.
class KernelSeconds {
 public:
  static constexpr size_t kMostKinds = 256;  // further plans of a model are taken for one

  // What a piece adds: nothing, until one of its kind was timed.
  std::vector<OperatorSeconds> Take(const std::string& worker, const StepSample& sample);

 private:
  using Kind = std::tuple<std::string, std::string, std::string, model::Stage>;

  absl::Duration TakeWaiting(const std::string& worker, const StepSample& sample);

  Mutex mutex_;
  std::map<Kind, absl::Duration> waiting_ ABSL_GUARDED_BY(mutex_);
};

// Series of operators' device time: of the timed pieces of work, and an estimate for all.
// Thread-safe.
class KernelMetrics {
 public:
  KernelMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  // A worker's series exist from here on.
  void AddSeries(const std::string& worker);
  void Stepped(const std::string& worker, const StepSample& sample);

 private:
  CappedFamily<prometheus::Counter> sampled_;
  CappedFamily<prometheus::Counter> estimated_;
  CappedFamily<prometheus::Histogram> kernels_;
  CappedFamily<prometheus::Counter> stalls_;  // of steps, for weights that stream
  KernelSeconds seconds_;
};

// Thread-safe.
class WorkerMetrics {
 public:
  WorkerMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  // A worker's series exist from its first change on.
  void Changed(const WorkerInfo& worker);
  void Lost(const std::string& worker, LossCause cause);
  void Stepped(const std::string& worker, const StepSample& sample);
  void WarmedUp(const std::string& worker, const reel::WarmedUp& video);
  void ModelLoaded(const std::string& worker) { loads_.Get({{"device", worker}}).Increment(); }
  void ModelPutOut(const std::string& worker) { put_outs_.Get({{"device", worker}}).Increment(); }
  void PromptsRead(const model::PromptCounts& prompts);
  void AdaptersUploaded(const std::string& model, const model::AdapterCounts& adapters) {
    adapters_.Uploaded(model, adapters);
  }
  void Holds(const std::string& worker, const HeldBytes& held);
  void EnergyTaken(const std::string& worker, double joules);
  void JobFailed(const std::string& worker, Reason reason);

 private:
  void AddSeries(const std::string& worker);
  void SetInfo(const WorkerInfo& worker);

  prometheus::Family<prometheus::Gauge>& info_;
  CappedFamily<prometheus::Gauge> up_;
  CappedFamily<prometheus::Gauge> out_;
  CappedFamily<prometheus::Gauge> memory_;
  CappedFamily<prometheus::Gauge> adapter_bytes_;
  CappedFamily<prometheus::Gauge> host_bytes_;
  CappedFamily<prometheus::Gauge> copy_speed_;
  CappedFamily<prometheus::Counter> restarts_;
  CappedFamily<prometheus::Counter> errors_;
  CappedFamily<prometheus::Counter> busy_;
  CappedFamily<prometheus::Counter> energy_;
  CappedFamily<prometheus::Counter> loads_;
  CappedFamily<prometheus::Counter> put_outs_;
  CappedFamily<prometheus::Histogram> steps_;
  KernelMetrics kernels_;
  SharingMetrics sharing_;
  CappedFamily<prometheus::Histogram> warm_ups_;
  prometheus::Histogram& rows_;
  prometheus::Histogram& jobs_;
  prometheus::Counter& prompt_hits_;
  prometheus::Counter& prompt_misses_;
  AdapterMetrics adapters_;
  Mutex mutex_;
  std::map<std::string, prometheus::Gauge*> infos_ ABSL_GUARDED_BY(mutex_);
};

// Models that are served, as series: what they are, whether they are ready, who waits for them.
// Thread-safe.
class ModelMetrics {
 public:
  explicit ModelMetrics(prometheus::Registry& registry);

  // All that are served now. Series of others go: a configuration brings as many as it has.
  void Set(const std::vector<ModelGauges>& models);

 private:
  struct Series {
    prometheus::Gauge* info = nullptr;  // null: what it is is not known yet
    prometheus::Gauge* ready = nullptr;
    prometheus::Gauge* age = nullptr;
    std::string weights, dtype;  // as `info` has them
  };
  void SetInfo(const ModelGauges& model, Series& series);
  void Remove(const Series& series);

  prometheus::Family<prometheus::Gauge>& info_;
  prometheus::Family<prometheus::Gauge>& ready_;
  prometheus::Family<prometheus::Gauge>& age_;
  Mutex mutex_;
  std::map<std::string, Series, std::less<>> series_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
