// SPDX-License-Identifier: Apache-2.0
// Watches the disk of this server's data folder: whether it takes results, and which failures are
// its fault.
#pragma once

#include <functional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/node/fitness.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Looks at the disk; `writes`: by writing to it, else by what it says of itself. Waits.
using DiskProbe = std::function<absl::Status(bool writes)>;

// Confined to the node's thread. What it is given outlives it. Without a probe the disk counts as
// good.
class DiskWatch {
 public:
  DiskWatch(DiskProbe probe, TaskPool& probes, const OwnThread& thread, Fitness& fitness,
            const Clock& clock)
      : probe_(std::move(probe)),
        probes_(probes),
        thread_(thread),
        fitness_(fitness),
        clock_(clock) {}

  // A second has passed.
  void Tick();
  // Whether a video has failed with `error` because of this disk: then it can be rendered
  // elsewhere.
  void Judge(const absl::Status& error, absl::AnyInvocable<void(bool of_disk)> done);

 private:
  void Fail(const absl::Status& why);
  void OnProbed(const absl::Status& status);

  const DiskProbe probe_;
  TaskPool& probes_;  // one thread, which waits for the disk
  const OwnThread& thread_;
  Fitness& fitness_;
  const Clock& clock_;
  bool good_ = true, probing_ = false;
  // A file that did not fit leaves room behind: a good probe proves little until this is over.
  absl::Duration not_before_ = -absl::InfiniteDuration();
  absl::Duration failed_ = -absl::InfiniteDuration();
  absl::Duration pause_;
};

}  // namespace reel::front
