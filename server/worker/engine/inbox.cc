// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/inbox.h"

#include <chrono>
#include <utility>

namespace reel::worker {

absl::Time SteadyNow() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

void Inbox::Post(EngineCommand command) {
  MutexLock lock(mutex_);
  commands_.push_back(std::move(command));
  changed_.NotifyAll();
}

void Inbox::Wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  changed_.NotifyAll();
}

void Inbox::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  changed_.NotifyAll();
}

std::vector<EngineCommand> Inbox::Take() {
  MutexLock lock(mutex_);
  woken_ = false;
  return std::exchange(commands_, {});
}

bool Inbox::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

absl::Duration Inbox::WaitUntil(absl::Time end) {
  const absl::Time start = SteadyNow();
  MutexLock lock(mutex_);
  for (absl::Time now = start; commands_.empty() && !woken_ && !stopped_ && now < end;
       now = SteadyNow()) {
    changed_.WaitFor(mutex_, end - now);
  }
  return SteadyNow() - start;
}

}  // namespace reel::worker
