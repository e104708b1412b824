// SPDX-License-Identifier: Apache-2.0
// A closed loop of jobs against an engine: each job that ends is followed by the next at once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "model/model_card.h"
#include "server/worker/engine/engine.h"

namespace reel::worker {

struct Loop {
  model::GenerationSpec spec;  // resolved; each job gets a seed of its own
  int in_flight = 1;
  int warm_up = 0;  // videos before those that count
  int videos = 1;   // that count
};

struct LoopResult {
  double seconds = 0;                              // for the videos that count
  std::map<size_t, std::vector<double>> steps_ms;  // by jobs in the step, meanwhile
  std::vector<size_t> order;                       // jobs of each step, in order
};

// Listens to one engine and outlives it. Thread-safe.
class ClosedLoop final : public EngineEvents {
 public:
  using Post = std::function<void(EngineCommand)>;

  // Blocks until the model serves.
  absl::StatusOr<model::ModelCard> AwaitModel();
  // Blocks until the loop has run and no job of it is left. One at a time.
  absl::StatusOr<LoopResult> Run(const Loop& loop, const Post& post);

  void Report(WorkerReport report) override;
  void DeviceLost(const absl::Status& error) override;
  void Drained() override {}

 private:
  void End(const std::string& job, const absl::Status& error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PostNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool counts() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ended_ >= loop_.warm_up && ended_ < loop_.warm_up + loop_.videos;
  }

  Mutex mutex_;
  CondVar changed_;
  std::optional<absl::StatusOr<model::ModelCard>> card_ ABSL_GUARDED_BY(mutex_);
  Loop loop_ ABSL_GUARDED_BY(mutex_);
  Post post_ ABSL_GUARDED_BY(mutex_);
  LoopResult result_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> running_ ABSL_GUARDED_BY(mutex_);
  absl::Time began_ ABSL_GUARDED_BY(mutex_), stopped_ ABSL_GUARDED_BY(mutex_);
  int ended_ ABSL_GUARDED_BY(mutex_) = 0;        // of this loop
  uint64_t posted_ ABSL_GUARDED_BY(mutex_) = 0;  // of all loops
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::worker
