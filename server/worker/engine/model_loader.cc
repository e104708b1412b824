// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/model_loader.h"

#include <utility>

#include "model/registry.h"

namespace reel::worker {

ModelLoader::~ModelLoader() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void ModelLoader::Start(LoadModel command) {
  MutexLock lock(mutex_);
  waiting_.push_back(std::move(command));
  changed_.NotifyAll();
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

std::vector<LoadResult> ModelLoader::Take() {
  MutexLock lock(mutex_);
  return std::exchange(results_, {});
}

void ModelLoader::Run() {
  for (;;) {
    LoadModel next;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !closed_) changed_.Wait(mutex_);
      if (closed_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    auto pipeline = model::LoadPipeline(next.options, stream_, memory_);
    {
      MutexLock lock(mutex_);
      results_.push_back({std::move(next.options), next.revision, std::move(pipeline)});
    }
    done_();
  }
}

}  // namespace reel::worker
