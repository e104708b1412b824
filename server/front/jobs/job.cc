// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/job.h"

#include <utility>

namespace reel::front {

void JobListeners::Add(std::weak_ptr<JobListener> listener) {
  const MutexLock lock(mutex_);
  std::erase_if(listeners_, [](const auto& known) { return known.expired(); });
  listeners_.push_back(std::move(listener));
}

void JobListeners::Wake() {
  std::vector<std::shared_ptr<JobListener>> woken;
  {
    const MutexLock lock(mutex_);
    for (const auto& listener : listeners_) {
      if (auto alive = listener.lock()) woken.push_back(std::move(alive));
    }
  }
  for (const auto& listener : woken) listener->Wake();
}

}  // namespace reel::front
