// SPDX-License-Identifier: Apache-2.0
// Workers that do what a test says: commands are written down, reports come from the test.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/base/mutex.h"
#include "server/front/workers/worker_pool.h"

namespace reel::testing {

// Thread-safe.
class ScriptedWorkerPool final : public front::WorkerPool {
 public:
  struct Sent {
    std::string worker;
    Assignment assignment;
  };

  struct ModelCommand {
    std::string worker, model;
    int64_t revision = 0;
  };

  std::vector<front::WorkerInfo> Workers() const override { return {}; }
  void Assign(const std::string& worker, Assignment assignment) override {
    MutexLock lock(mutex_);
    sent_.push_back({worker, std::move(assignment)});
    changed_.NotifyAll();
  }
  void Cancel(const std::string& worker, const std::string& job) override {
    (void)worker;
    MutexLock lock(mutex_);
    cancelled_.push_back(job);
    changed_.NotifyAll();
  }
  void Reorder(const std::string&, const std::string& job, double order_key) override {
    MutexLock lock(mutex_);
    keys_[job] = order_key;
  }
  void Park(const std::string&, const std::string& job, bool to_host) override {
    MutexLock lock(mutex_);
    parked_[job] = to_host;
  }
  void Resume(const std::string&, const std::string& job) override {
    MutexLock lock(mutex_);
    parked_.erase(job);
  }
  void LoadModel(const std::string& worker, const model::LoadOptions& options,
                 int64_t revision) override {
    MutexLock lock(mutex_);
    loads_.push_back({worker, options.name, revision});
  }
  void UnloadModel(const std::string& worker, const std::string& model) override {
    MutexLock lock(mutex_);
    unloads_.push_back({worker, model, 0});
  }
  void PutOutModel(const std::string& worker, const std::string& model) override {
    MutexLock lock(mutex_);
    put_out_.push_back({worker, model, 0});
  }
  void Restore(const std::string& worker) override {
    MutexLock lock(mutex_);
    restored_.push_back(worker);
  }
  void SetStepLimit(const std::string& worker, absl::Duration limit) override {
    MutexLock lock(mutex_);
    limits_[worker] = limit;
  }

  std::vector<std::string> restored() const {
    MutexLock lock(mutex_);
    return restored_;
  }
  std::vector<ModelCommand> loads() const {
    MutexLock lock(mutex_);
    return loads_;
  }
  std::vector<ModelCommand> unloads() const {
    MutexLock lock(mutex_);
    return unloads_;
  }

  std::vector<ModelCommand> put_out() const {
    MutexLock lock(mutex_);
    return put_out_;
  }

  // The next assignment that was not taken yet; an empty worker after half a minute without one.
  Sent TakeAssignment() {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    MutexLock lock(mutex_);
    while (sent_.empty() && absl::Now() < end) changed_.WaitFor(mutex_, end - absl::Now());
    if (sent_.empty()) return {};
    Sent sent = std::move(sent_.front());
    sent_.pop_front();
    return sent;
  }
  int num_waiting() const {
    MutexLock lock(mutex_);
    return static_cast<int>(sent_.size());
  }
  std::vector<std::string> cancelled() const {
    MutexLock lock(mutex_);
    return cancelled_;
  }
  // The latest that its worker was told of, after its assignment.
  double order_key(const Sent& sent) const {
    MutexLock lock(mutex_);
    const auto found = keys_.find(sent.assignment.ref.job);
    return found == keys_.end() ? sent.assignment.order_key : found->second;
  }
  bool parked(const Sent& sent) const {
    MutexLock lock(mutex_);
    return parked_.contains(sent.assignment.ref.job);
  }
  bool parked_to_host(const Sent& sent) const {
    MutexLock lock(mutex_);
    const auto found = parked_.find(sent.assignment.ref.job);
    return found != parked_.end() && found->second;
  }
  absl::Duration step_limit(const std::string& worker) const {
    MutexLock lock(mutex_);
    const auto found = limits_.find(worker);
    return found == limits_.end() ? absl::ZeroDuration() : found->second;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Sent> sent_ ABSL_GUARDED_BY(mutex_);
  std::vector<ModelCommand> loads_ ABSL_GUARDED_BY(mutex_), unloads_ ABSL_GUARDED_BY(mutex_);
  std::vector<ModelCommand> put_out_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> restored_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> cancelled_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, bool> parked_ ABSL_GUARDED_BY(mutex_);  // to the host
  std::map<std::string, double> keys_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, absl::Duration> limits_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::testing
