// SPDX-License-Identifier: Apache-2.0
// Writes down what jobs/ tells the metrics.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/jobs/job_observer.h"

namespace reel::testing {

struct Observed {
  std::vector<front::Video> ended;
  std::vector<bool> ended_detached;
  std::vector<front::StateEnd> states;
  std::vector<absl::Status> refused;
  std::vector<absl::Duration> cancels;
  int started = 0, restarted = 0, preempted = 0, stepped = 0, estimates = 0, within_p90 = 0;
  std::vector<front::LossCause> losses;
  front::QueueGauges gauges;
  std::vector<Ratio> step_ratios;
  std::vector<front::ShadowResult> shadows;
  std::vector<std::pair<absl::Duration, absl::Duration>> times_left;  // told, actual
  double joules = 0;
  std::map<std::string, std::pair<bool, double>> models;  // ready, longest wait
};

// Thread-safe.
class RecordingObserver final : public front::JobObserver {
 public:
  Observed Get() const {
    MutexLock lock(mutex_);
    return seen_;
  }
  void JobEnded(const front::Video& video, bool detached) override {
    MutexLock lock(mutex_);
    seen_.ended.push_back(video);
    seen_.ended_detached.push_back(detached);
  }
  void StateEnded(front::StateEnd how) override {
    MutexLock lock(mutex_);
    seen_.states.push_back(how);
  }
  void StepsCompared(const std::string&, const Ratio& ratio) override {
    MutexLock lock(mutex_);
    seen_.step_ratios.push_back(ratio);
  }
  void ShadowEnded(const front::ShadowResult& result) override {
    MutexLock lock(mutex_);
    seen_.shadows.push_back(result);
  }
  void JobRefused(const absl::Status& why, bool) override {
    MutexLock lock(mutex_);
    seen_.refused.push_back(why);
  }
  void JobStarted(const front::Video&, absl::Duration) override {
    MutexLock lock(mutex_);
    ++seen_.started;
  }
  void JobRestarted() override {
    MutexLock lock(mutex_);
    ++seen_.restarted;
  }
  void JobPreempted() override {
    MutexLock lock(mutex_);
    ++seen_.preempted;
  }
  void CancelDone(absl::Duration took) override {
    MutexLock lock(mutex_);
    seen_.cancels.push_back(took);
  }
  void Stepped(const std::string&, const StepSample&) override {
    MutexLock lock(mutex_);
    ++seen_.stepped;
  }
  void WarmedUp(const std::string&, const reel::WarmedUp&) override {}
  void ModelLoaded(const std::string&) override {}
  void ModelPutOut(const std::string&) override {}
  void PromptsRead(const model::PromptCounts&) override {}
  void AdaptersUploaded(const std::string&, const model::AdapterCounts&) override {}
  void WorkerHolds(const std::string&, const HeldBytes&) override {}
  void WorkerChanged(const front::WorkerInfo&) override {}
  void WorkerLost(const std::string&, front::LossCause cause) override {
    MutexLock lock(mutex_);
    seen_.losses.push_back(cause);
  }
  void Gauges(const front::QueueGauges& gauges) override {
    MutexLock lock(mutex_);
    seen_.gauges = gauges;
    seen_.models.clear();
    for (const front::ModelGauges& model : gauges.models) {
      seen_.models[std::string(model.name)] = {model.ready, model.oldest_wait_seconds};
    }
    seen_.gauges.models.clear();  // of cards and names that may go
  }
  void TimeLeftChecked(absl::Duration told, absl::Duration actual) override {
    MutexLock lock(mutex_);
    seen_.times_left.emplace_back(told, actual);
  }
  void EnergyTaken(const std::string&, double joules) override {
    MutexLock lock(mutex_);
    seen_.joules += joules;
  }
  void EstimateChecked(absl::Duration, absl::Duration, bool within_p90) override {
    MutexLock lock(mutex_);
    ++seen_.estimates;
    seen_.within_p90 += within_p90 ? 1 : 0;
  }

 private:
  mutable Mutex mutex_;
  Observed seen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::testing
