// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_launcher.h"

#include <csignal>
#include <utility>

namespace reel::front {

void FakeLauncher::SetScript(const FakeScript& script) {
  MutexLock lock(mutex_);
  script_ = script;
}

void FakeLauncher::FailLaunches(int times) {
  MutexLock lock(mutex_);
  failing_ = times;
}

std::shared_ptr<FakeWorker> FakeLauncher::WaitForLaunch(int n) {
  MutexLock lock(mutex_);
  while (static_cast<int>(workers_.size()) < n) changed_.Wait(mutex_);
  return workers_[static_cast<size_t>(n - 1)];
}

int FakeLauncher::launches() const {
  MutexLock lock(mutex_);
  return static_cast<int>(workers_.size());
}

LaunchRequest FakeLauncher::RequestOf(int n) const {
  MutexLock lock(mutex_);
  return requests_.at(static_cast<size_t>(n - 1));
}

void FakeLauncher::PassWaits(int times) {
  MutexLock lock(mutex_);
  const int64_t until = waits_ + times;
  while (waits_ < until) changed_.Wait(mutex_);
}

void FakeLauncher::End(int n, int status, int signal) {
  MutexLock lock(mutex_);
  const WorkerExit exit{.id = n, .status = status, .signal = signal};
  if (!ended_.emplace(n, exit).second) return;
  exits_.push_back(exit);
  workers_[static_cast<size_t>(n - 1)]->Vanish();
  changed_.NotifyAll();
}

absl::StatusOr<int64_t> FakeLauncher::Launch(const LaunchRequest& request) {
  MutexLock lock(mutex_);
  if (failing_ > 0) {
    --failing_;
    return absl::UnavailableError("The script says that this launch fails");
  }
  requests_.push_back(request);
  workers_.push_back(std::make_shared<FakeWorker>(request, script_));
  changed_.NotifyAll();
  return static_cast<int64_t>(workers_.size());
}

void FakeLauncher::IgnoreKills(bool ignore) {
  MutexLock lock(mutex_);
  ignores_kills_ = ignore;
}

void FakeLauncher::Kill(int64_t id) {
  {
    MutexLock lock(mutex_);
    if (ignores_kills_) return;
  }
  End(static_cast<int>(id), 0, SIGKILL);
}

void FakeLauncher::StopSupervisor(absl::Duration time) {
  {
    MutexLock lock(mutex_);
    stop_ = time;
    while (stop_ > absl::ZeroDuration()) changed_.Wait(mutex_);
  }
  PassWaits(1);
}

std::vector<WorkerExit> FakeLauncher::Wait(absl::Duration timeout) {
  MutexLock lock(mutex_);
  const absl::Time stopped = absl::Now() + stop_;
  while (absl::Now() < stopped) changed_.WaitFor(mutex_, stopped - absl::Now());
  stop_ = absl::ZeroDuration();
  const absl::Time until = absl::Now() + timeout;
  while (exits_.empty() && !woken_ && absl::Now() < until) {
    changed_.WaitFor(mutex_, until - absl::Now());
  }
  woken_ = false;
  ++waits_;
  changed_.NotifyAll();
  for (size_t i = 0; i < workers_.size(); ++i) {
    const WorkerExit exit{.id = static_cast<int64_t>(i) + 1, .status = 0, .signal = 0};
    if (workers_[i]->HasLeft() && ended_.emplace(exit.id, exit).second) exits_.push_back(exit);
  }
  return std::exchange(exits_, {});
}

void FakeLauncher::Wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  changed_.NotifyAll();
}

}  // namespace reel::front
