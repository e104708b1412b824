// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/supervisor.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kStickyStatus = 42;      // the device's context was lost
constexpr int kDeviceGoneStatus = 43;  // the device itself: nothing but an operator helps

SteadyTime Now() { return std::chrono::steady_clock::now(); }

SteadyTime After(absl::Duration wait) {
  return Now() + std::chrono::duration_cast<SteadyTime::duration>(
                     absl::ToChronoNanoseconds(std::min(wait, absl::Hours(24 * 365))));
}

// A crash is the worker's own end; any other signal came from outside.
bool IsCrash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

LossCause CauseOf(const WorkerExit& exit) {
  if (exit.signal != 0) return IsCrash(exit.signal) ? LossCause::kExit : LossCause::kKilled;
  if (exit.status == kDeviceGoneStatus) return LossCause::kDevice;
  return exit.status == kStickyStatus ? LossCause::kSticky : LossCause::kExit;
}

}  // namespace

Supervisor::Supervisor(const WorkerPoolOptions& options, WorkerLauncher& launcher,
                       SocketSource socket, const std::vector<WorkerSlot*>& slots)
    : options_(options), launcher_(launcher), socket_(std::move(socket)) {
  const SteadyTime now = Now();
  for (WorkerSlot* slot : slots) {
    // Another seed for each, so that a host's workers do not come back in one moment.
    const auto seed = static_cast<uint64_t>(now.time_since_epoch().count()) + children_.size() + 1;
    children_.push_back({.slot = slot,
                         .policy = RestartPolicy(options.restart, seed),
                         .next_start = now,
                         .out = false,
                         .id = {},
                         .killed_for = {},
                         .exit = {},
                         .exited = {},
                         .told_to_drain = false});
  }
  thread_ = std::thread([this] { Run(); });
}

Supervisor::~Supervisor() {
  {
    MutexLock lock(mutex_);
    mode_ = Mode::kStop;
  }
  launcher_.Wake();
  thread_.join();
}

void Supervisor::Drain(absl::Duration time_left) {
  {
    MutexLock lock(mutex_);
    mode_ = Mode::kDrain;
    deadline_ = After(time_left);
  }
  launcher_.Wake();
  MutexLock lock(mutex_);
  while (!all_gone_) gone_changed_.Wait(mutex_);
}

void Supervisor::Run() {
  for (;;) {
    Mode mode;
    SteadyTime deadline;
    {
      MutexLock lock(mutex_);
      mode = mode_;
      deadline = deadline_;
    }
    NoticePause();
    for (Child& child : children_) Attend(child, mode, deadline);
    if (mode != Mode::kServe &&
        std::ranges::none_of(children_, [](const Child& child) { return child.id.has_value(); })) {
      MutexLock lock(mutex_);
      all_gone_ = true;
      gone_changed_.NotifyAll();
      if (mode == Mode::kStop) return;
    }
    for (const WorkerExit& exit : launcher_.Wait(WaitTime(mode))) {
      for (Child& child : children_) {
        if (child.id == exit.id) {
          child.exit = exit;
          child.exited = Now();
        }
      }
    }
  }
}

bool Supervisor::NoticePause() {
  const auto pause = pauses_.Tick(Now());
  if (!pause) return false;
  Log(LogLevel::kWarning,
      "reeld did not run for a while (stopped, or its machine was); workers are not judged by it",
      {{"seconds", *pause}});
  return true;
}

absl::Duration Supervisor::WaitTime(Mode mode) const {
  absl::Duration wait = options_.watch_interval;
  for (const Child& child : children_) {
    if (mode == Mode::kServe && !child.id && !child.out)
      wait = std::min(wait, Between(Now(), child.next_start));
  }
  return std::max(wait, absl::Milliseconds(1));
}

void Supervisor::Attend(Child& child, Mode mode, SteadyTime deadline) {
  if (mode == Mode::kServe && child.slot->TakeRestore()) Restore(child);
  if (child.exit) {
    // The stream breaks by itself once all that was sent has been read; what is stuck is cut.
    const bool patient =
        mode != Mode::kStop && pauses_.Awake(child.exited, Now()) <= options_.exit_grace;
    if (!child.slot->HasStream()) {
      Lose(child, mode);
    } else if (!patient) {
      child.slot->CloseStream();
    }
  } else if (child.id) {
    AttendRunning(child, mode, deadline);
  } else if (mode == Mode::kServe && !child.out && Now() >= child.next_start) {
    Launch(child);
  }
}

void Supervisor::AttendRunning(Child& child, Mode mode, SteadyTime deadline) {
  if (child.killed_for) return;
  // At a wish of ours nobody is to blame.
  if (mode == Mode::kStop) return Kill(child, LossCause::kKilled);
  if (mode == Mode::kDrain) {
    const absl::Duration time_left = Between(Now(), deadline);
    if (time_left < -options_.drain_grace) return Kill(child, LossCause::kKilled);
    if (!child.slot->AttachedSince()) return Kill(child, LossCause::kKilled);
    if (!child.told_to_drain) {
      child.told_to_drain = true;
      child.slot->Drain(std::max(time_left, absl::ZeroDuration()));
    }
  }
  std::optional<LossCause> cause = child.slot->Diagnose(Now(), pauses_);
  // A pause may have come since the last look at the clock.
  if (cause && NoticePause()) cause = child.slot->Diagnose(Now(), pauses_);
  if (cause) Kill(child, *cause);
}

void Supervisor::Restore(Child& child) {
  Log(LogLevel::kInfo, "A worker is put back into service", {{"worker", child.slot->name()}});
  child.policy.Forget();
  child.out = false;
  child.next_start = Now();
  // One without a model still runs, and would not look for models again.
  if (child.id && !child.exit && !child.killed_for) Kill(child, LossCause::kKilled);
}

absl::StatusOr<int64_t> Supervisor::TryLaunch(Child& child) {
  const absl::StatusOr<std::string> socket = socket_();
  // An incarnation begins even where it cannot start: its failure ends it.
  const LaunchRequest request = child.slot->BeginIncarnation(socket.value_or(""));
  if (!socket.ok()) return socket.status();
  return launcher_.Launch(request);
}

void Supervisor::Launch(Child& child) {
  const std::string& worker = child.slot->name();
  const absl::StatusOr<int64_t> id = TryLaunch(child);
  if (id.ok()) {
    Log(LogLevel::kInfo, "Worker started", {{"worker", worker}, {"process", *id}});
    child.id = *id;
    return;
  }
  Log(LogLevel::kError, "Worker could not be started",
      {{"worker", worker}, {"error", id.status()}});
  child.slot->LaunchFailed();
  const auto wait = child.policy.AfterLoss(Now(), std::nullopt, false);
  child.next_start = After(wait.value_or(options_.restart.longest_wait));
}

void Supervisor::Kill(Child& child, LossCause cause) {
  child.killed_for = cause;
  launcher_.Kill(*child.id);
}

void Supervisor::Lose(Child& child, Mode mode) {
  const SteadyTime now = Now();
  const WorkerExit exit = *child.exit;
  // One that ended by itself before our signal came knows better what it died of.
  const bool killed = child.killed_for && exit.signal == SIGKILL;
  const LossCause cause = killed ? *child.killed_for : CauseOf(exit);
  const bool own_fault =
      cause == LossCause::kSticky || cause == LossCause::kHang || cause == LossCause::kHeartbeat;
  auto wait = child.policy.AfterLoss(now, child.slot->AttachedSince(), own_fault);
  OutReason out = wait ? OutReason::kNone : OutReason::kFaults;
  if (cause == LossCause::kDevice) {
    wait = std::nullopt;
    out = OutReason::kDevice;
  }
  child.out = !wait;
  child.next_start = After(wait.value_or(absl::ZeroDuration()));
  child.id.reset();
  child.killed_for.reset();
  child.exit.reset();
  Log(mode == Mode::kServe ? LogLevel::kWarning : LogLevel::kInfo, "Worker is gone",
      {{"worker", child.slot->name()},
       {"cause", LossCauseName(cause)},
       {"status", exit.status},
       {"signal", exit.signal},
       {"out", OutReasonName(out)},
       {"next_start_s", wait.value_or(absl::ZeroDuration())}});
  if (child.out) {
    Log(LogLevel::kError, "A device is out of service until an operator acts: reel restore",
        {{"worker", child.slot->name()}, {"reason", OutReasonName(out)}});
  }
  child.slot->EndIncarnation(cause, out);
}

}  // namespace reel::front
