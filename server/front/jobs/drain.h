// SPDX-License-Identifier: Apache-2.0
// Shutdown: readiness falls at once, admission ends a little later. Running jobs finish or are left
// at the limit; what waits is left to its log.
#pragma once

#include <atomic>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/timer_queue.h"

namespace reel::front {

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
