// SPDX-License-Identifier: Apache-2.0
#include "server/front/health/health_board.h"

#include <utility>

namespace reel::front {

HealthBoard::HealthBoard()
    : serving_{{kHealthAll, false},
               {kHealthVideoService, false},
               {kHealthServerService, true},
               {kHealthLiveness, true},
               {kHealthStartup, false}} {}

void HealthBoard::SetAdmitting(bool admitting) {
  Set({kHealthAll, kHealthVideoService}, admitting);
}

void HealthBoard::SetStarted() { Set({kHealthStartup}, true); }

void HealthBoard::SetAlive(bool alive) { Set({kHealthLiveness, kHealthServerService}, alive); }

void HealthBoard::Drain() {
  {
    MutexLock lock(mutex_);
    draining_ = true;
  }
  SetAdmitting(false);
}

void HealthBoard::Close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  Tell();
}

std::optional<bool> HealthBoard::Serving(const std::string& service) const {
  MutexLock lock(mutex_);
  const auto found = serving_.find(service);
  if (found == serving_.end()) return std::nullopt;
  return found->second;
}

std::map<std::string, bool> HealthBoard::All() const {
  MutexLock lock(mutex_);
  return serving_;
}

bool HealthBoard::closed() const {
  MutexLock lock(mutex_);
  return closed_;
}

void HealthBoard::Watch(std::weak_ptr<HealthWatcher> watcher) {
  MutexLock lock(mutex_);
  // Gone ones leave as new ones come, so that the list is never longer than it was alive.
  std::erase_if(watchers_, [](const auto& old) { return old.expired(); });
  watchers_.push_back(std::move(watcher));
}

void HealthBoard::Set(const std::vector<std::string>& services, bool serving) {
  bool changed = false;
  {
    MutexLock lock(mutex_);
    for (const std::string& service : services) {
      const bool admission = service == kHealthAll || service == kHealthVideoService;
      const bool now = serving && !(admission && draining_);
      changed = changed || serving_[service] != now;
      serving_[service] = now;
    }
  }
  if (changed) Tell();
}

void HealthBoard::Tell() {
  std::vector<std::weak_ptr<HealthWatcher>> watchers;
  {
    MutexLock lock(mutex_);
    watchers = watchers_;
  }
  for (const auto& weak : watchers) {
    if (const auto watcher = weak.lock()) watcher->HealthChanged();
  }
}

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
