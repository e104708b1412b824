// SPDX-License-Identifier: Apache-2.0
// Takes up what an earlier process left: what it has learned, and files of videos that have ended.
// Of a video that lived its row goes, since its log says whose it is; files that belong to no video
// are moved away.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/timer_queue.h"

namespace reel::front {

// Before anything else runs.
class RestartOfFront {
 public:
  RestartOfFront(DispatcherState& state, const DispatcherPorts& ports)
      : state_(state), ports_(ports) {}

  // Blocks.
  absl::Status Recover();
  // After it: videos of which no worker had begun any when the process ended.
  std::set<std::string> TakeNeverBegun() { return std::move(never_begun_); }

 private:
  absl::Status TakeReplica();
  absl::Status KeepFiles();
  absl::Status LearnAgain();
  void Forget(const JobRow& row);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  std::set<std::string> never_begun_;
};

// Shutdown: readiness falls at once, admission ends a little later. Running jobs finish or are left
// at the limit; what waits is left to its log.
// Confined to the dispatcher's thread. What it is given outlives it.
class Drain {
 public:
  Drain(DispatcherState& state, const Clock& clock) : state_(state), clock_(clock) {}

  // A second call means now. Answer calls `done`.
  void Start(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);
  // Called by the timers kCloseAdmission and kCutDrain.
  void CloseAdmission();
  void Cut();

  // True when somebody waits for the drain and no job needs this process any more.
  bool reached() const;
  void Answer();

 private:
  DispatcherState& state_;
  const Clock& clock_;
  std::vector<absl::AnyInvocable<void()>> waiting_;
};

}  // namespace reel::front
