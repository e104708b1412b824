// SPDX-License-Identifier: Apache-2.0
// Devices and their steps as series. The label "device" is the worker's configured name, which is
// unique; reel_worker_info tells what it stands for.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <string>

#include "kernels/base/mutex.h"
#include "server/errors/reason.h"
#include "server/front/metrics/capped_family.h"
#include "server/front/metrics/kernel_metrics.h"
#include "server/front/metrics/sharing_metrics.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Thread-safe.
class WorkerMetrics {
 public:
  WorkerMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  // A worker's series exist from its first change on.
  void Changed(const WorkerInfo& worker);
  void Lost(const std::string& worker, LossCause cause);
  void Stepped(const std::string& worker, const StepSample& sample);
  void WarmedUp(const std::string& worker, const reel::WarmedUp& video);
  void ModelLoaded(const std::string& worker);
  void ModelPutOut(const std::string& worker);
  void PromptsRead(const model::PromptCounts& prompts);
  void EnergyTaken(const std::string& worker, double joules);
  void JobFailed(const std::string& worker, Reason reason);

 private:
  void AddSeries(const std::string& worker);
  void SetInfo(const WorkerInfo& worker);

  prometheus::Family<prometheus::Gauge>& info_;
  CappedFamily<prometheus::Gauge> up_;
  CappedFamily<prometheus::Gauge> out_;
  CappedFamily<prometheus::Gauge> memory_;
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
  Mutex mutex_;
  std::map<std::string, prometheus::Gauge*> infos_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
