// SPDX-License-Identifier: Apache-2.0
// Makes a call wait until the view has everything that was stored when the call came, so that a
// video made at another server a moment ago is not denied.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Confined to the node's thread. One question to the broker answers all calls that came before it,
// and questions keep a distance, so that no flood of calls becomes one of questions. What it is
// given outlives it.
class ViewBarrier {
 public:
  ViewBarrier(LogPort& port, TaskPool& looks, const OwnThread& thread, const Clock& clock)
      : port_(port), looks_(looks), thread_(thread), clock_(clock) {}

  // OK: the view is as new as the call; FLEET_UNAVAILABLE: it is not, after two seconds, or the log
  // does not answer.
  using Done = absl::AnyInvocable<void(const absl::Status&)>;
  void Wait(Done done);
  // The view has changed up to `position`, or time has passed. `ready`: it has been read to the
  // log's end since it began.
  void Settle(bool ready, uint64_t position);

 private:
  // Calls that one question answers.
  struct Batch {
    std::vector<Done> calls;
    uint64_t newest = 0;
    absl::Duration end;
  };
  void Ask();
  void OnNewest(absl::StatusOr<uint64_t> newest);
  static void Answer(std::vector<Done> calls, const absl::Status& status);

  LogPort& port_;
  TaskPool& looks_;  // one thread, which waits for the broker
  const OwnThread& thread_;
  const Clock& clock_;
  std::vector<Done> next_;   // of the next question
  std::vector<Done> asked_;  // of the one that is asked
  bool asking_ = false;
  std::vector<Batch> waiting_;
};

}  // namespace reel::front
