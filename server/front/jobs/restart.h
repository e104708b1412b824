// SPDX-License-Identifier: Apache-2.0
// Recovers what an earlier process left: learned costs and files of ended videos. Deletes rows of
// live videos, whose owner the log knows, and moves away files without a video.
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

// Runs before anything else.
class RestartOfFront {
 public:
  RestartOfFront(DispatcherState& state, const DispatcherPorts& ports)
      : state_(state), ports_(ports) {}

  // Blocks.
  absl::Status Recover();
  // Valid after Recover: videos that no worker had started when the process ended.
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

// Shuts down: ends readiness at once and admission a little later. Running jobs finish or are left
// at the limit; waiting ones are left to the log. Confined to the dispatcher's thread. Arguments
// outlive it.
class Drain {
 public:
  Drain(DispatcherState& state, const Clock& clock) : state_(state), clock_(clock) {}

  // A second call hurries. Answer calls `done`.
  void Start(absl::Duration propagation, absl::Duration limit, absl::AnyInvocable<void()> done);
  // Called by the timers kCloseAdmission and kCutDrain.
  void CloseAdmission();
  void Cut();

  // Whether a drain was requested and no job needs this process any more.
  bool reached() const;
  void Answer();

 private:
  DispatcherState& state_;
  const Clock& clock_;
  std::vector<absl::AnyInvocable<void()>> waiting_;
};

}  // namespace reel::front
