// SPDX-License-Identifier: Apache-2.0
#include "server/front/health/health_monitor.h"

#include <utility>

namespace reel::front {

HealthMonitor::HealthMonitor(HealthBoard& board, std::function<bool()> admitting,
                             std::function<bool()> warm, absl::Duration period)
    : board_(board),
      admitting_(std::move(admitting)),
      warm_(std::move(warm)),
      period_(period),
      thread_([this] { Run(); }) {}

HealthMonitor::~HealthMonitor() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  thread_.join();
}

void HealthMonitor::Run() {
  bool warm = false;
  for (;;) {
    board_.SetAdmitting(admitting_());
    if (!warm && warm_()) {
      warm = true;
      board_.SetStarted();
    }
    MutexLock lock(mutex_);
    if (!stopping_) stop_.WaitFor(mutex_, period_);
    if (stopping_) return;
  }
}

}  // namespace reel::front
