// SPDX-License-Identifier: Apache-2.0
// Loads models beside the engine, one after the other, on a thread that starts with the first load.
#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "kernels/dispatch/execution.h"
#include "model/pipeline.h"
#include "server/worker/engine/engine.h"

namespace reel::worker {

struct LoadResult {
  model::LoadOptions options;
  int64_t revision = 0;
  absl::StatusOr<std::unique_ptr<model::Pipeline>> pipeline;
};

// Confined to the engine thread.
class ModelLoader {
 public:
  // `done` is called on the loader's thread after each load. Models charge `memory` on the engine
  // thread alone.
  ModelLoader(kernels::DeviceStream stream, std::shared_ptr<model::CountedMemory> memory,
              absl::AnyInvocable<void()> done)
      : stream_(stream), memory_(std::move(memory)), done_(std::move(done)) {}
  // Waits for the load that is under way, which cannot be interrupted.
  ~ModelLoader();

  void Start(LoadModel command);
  // Loads that have ended since the previous call.
  std::vector<LoadResult> Take();

 private:
  void Run();

  const kernels::DeviceStream stream_;
  const std::shared_ptr<model::CountedMemory> memory_;
  absl::AnyInvocable<void()> done_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<LoadModel> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<LoadResult> results_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace reel::worker
