// SPDX-License-Identifier: Apache-2.0
// Decides whether this node can render at the moment, and says why not.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Reasons why a node cannot render. An unfit node claims nothing, releases videos that no worker
// has started, and is not ready. Thread-safe.
class Fitness {
 public:
  // Sets or, with an empty `why`, clears a reason. Changes are logged.
  void Set(Unfit what, const std::string& why);
  bool fit() const;
  std::array<bool, kUnfits> All() const;
  // All reasons in one line; empty if fit.
  std::string Why() const;

 private:
  mutable Mutex mutex_;
  std::map<Unfit, std::string> reasons_ ABSL_GUARDED_BY(mutex_);
};

// Probes the disk, by a write if `writes`, else by its free space. Blocks.
using DiskProbe = std::function<absl::Status(bool writes)>;

// Watches the disk of the data folder: whether it takes results, and which failed videos it is to
// blame for.
// Confined to the node's thread. Arguments outlive it. Without a probe the disk counts as good.
class DiskWatch {
 public:
  DiskWatch(DiskProbe probe, TaskPool& probes, const OwnThread& thread, Fitness& fitness,
            const Clock& clock)
      : probe_(std::move(probe)),
        probes_(probes),
        thread_(thread),
        fitness_(fitness),
        clock_(clock) {}

  // Called every second.
  void Tick();
  // Tells `done` whether a video failed with `error` because of this disk, so that another node can
  // render it.
  void Judge(const absl::Status& error, absl::AnyInvocable<void(bool of_disk)> done);

 private:
  void Fail(const absl::Status& why);
  void OnProbed(const absl::Status& status);

  const DiskProbe probe_;
  TaskPool& probes_;  // one thread, for blocking disk calls
  const OwnThread& thread_;
  Fitness& fitness_;
  const Clock& clock_;
  bool good_ = true, probing_ = false;
  // A failed file frees its space again, so a good probe proves little before this time.
  absl::Duration not_before_ = -absl::InfiniteDuration();
  absl::Duration failed_ = -absl::InfiniteDuration();
  absl::Duration pause_;
};

// State of the fleet's store, by the last call of any thread. Thread-safe.
// Thread-safe.
class StoreState {
 public:
  // Notes the outcome of a call. Errors about a single object count as success, since the store
  // answered. Changes are logged.
  void Note(const absl::Status& status);
  bool good() const;
  // Sets how many results wait for the store.
  void SetWaiting(int results, bool full);
  // Whether no further result may wait.
  bool full() const;
  // One line for operators; empty if all is well.
  std::string Problem() const;

 private:
  mutable Mutex mutex_;
  absl::Status last_ ABSL_GUARDED_BY(mutex_);
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool full_ ABSL_GUARDED_BY(mutex_) = false;
};

// Whether a retry may succeed.
bool MayPass(const absl::Status& status);

}  // namespace reel::front
