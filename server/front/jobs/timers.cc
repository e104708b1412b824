// SPDX-License-Identifier: Apache-2.0
// What happens because time passes: deadlines, heartbeats, expiry, and keeping what was learned.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/errors/error.h"
#include "server/front/jobs/scheduler.h"

namespace reel::front {
namespace {

constexpr absl::Duration kLongestTick = absl::Seconds(1);
constexpr absl::Duration kShortestTick = absl::Milliseconds(10);
constexpr int64_t kTicksPerReap = 5;
constexpr int64_t kTicksPerSave = 30;

absl::Duration TickFor(absl::Duration heartbeat) {
  return std::clamp(heartbeat / 4, kShortestTick, kLongestTick);
}

}  // namespace

absl::Duration Scheduler::RunTimers() {
  for (const std::string& name : timers_.Take(now())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(name, absl::MaxSplits(' ', 1));
    ActiveJob* job = FindActive(parts.second);
    if (parts.first == "tick") {
      Tick();
    } else if (parts.first == "close") {
      StopAdmitting();
    } else if (parts.first == "cut") {
      EndDrain();
    } else if (parts.first == "deadline" && job != nullptr) {
      EndByDeadline(*job);
    } else if (parts.first == "rejoin" && job != nullptr && job->waits_for_owner) {
      End(*job, VideoState::kCancelled,
          EndError(*job, Reason::kOwnerLeft, "Nobody came back for the video after a restart"));
    }
  }
  if (std::exchange(gauges_stale_, false)) ReportGauges();
  const auto next = timers_.next();
  return next ? std::max(*next - now(), absl::ZeroDuration()) : absl::InfiniteDuration();
}

void Scheduler::Tick() {
  ++ticks_;
  timers_.Set("tick", now() + TickFor(options_.heartbeat));
  Heartbeats();
  gauges_stale_ = true;
  if (ticks_ % kTicksPerReap == 0) Reap(nullptr);
  SaveUnsaved();
  if (ticks_ % kTicksPerSave == 0) {
    parts_.store.PruneTombstones(wall());
    SaveCosts();
  }
}

void Scheduler::SaveCosts() {
  if (costs_.TakeChanged()) parts_.store.PutBlob("costs", "cells", costs_.Serialize());
}

// Every live job shows a sign of life in time, a queued one also when its place has changed.
void Scheduler::Heartbeats() {
  const absl::Duration silent_since = now() - (options_.heartbeat - TickFor(options_.heartbeat));
  absl::Duration ahead;
  for (const auto& [name, worker] : fleet_.workers()) ahead += worker.Backlog();
  const int devices = std::max(1, fleet_.NumReady());
  int position = 0;
  for (ActiveJob* job : RunOrder()) {
    const bool moved = job->log->queue_position() != position;
    if (moved || job->last_event <= silent_since) {
      AddProgress(*job, false, position, ahead / devices);
    }
    ahead += job->Left();
    ++position;
  }
  for (auto& [id, job] : jobs_) {
    // While an end or a restart is being made durable its number is taken: nothing may follow it.
    const bool waits_for_owner = job.phase == Phase::kQueued && !job.runnable();
    if (!job.at_worker() && !waits_for_owner) continue;
    if (job.last_event <= silent_since) AddProgress(job, false, 0, AheadAtWorker(job));
  }
}

}  // namespace reel::front
