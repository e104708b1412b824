// SPDX-License-Identifier: Apache-2.0
// Judges whether this node can render for now, and says why not.
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

// Thread-safe. A node that is not fit claims nothing, gives back what no worker has, and is not
// ready.
class Fitness {
 public:
  // `why` in words; empty: it is no longer so. The log hears of changes.
  void Set(Unfit what, const std::string& why);
  bool fit() const;
  std::array<bool, kUnfits> All() const;
  // All reasons in one line; empty: fit.
  std::string Why() const;

 private:
  mutable Mutex mutex_;
  std::map<Unfit, std::string> reasons_ ABSL_GUARDED_BY(mutex_);
};

// Looks at the disk; `writes`: by writing to it, else by what it says of itself. Waits.
using DiskProbe = std::function<absl::Status(bool writes)>;

// Watches the disk of this server's data folder: whether it takes results, and which failures are
// its fault.
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

// The state of the fleet's store, by the last call of any thread.
// Thread-safe.
class StoreState {
 public:
  // What a call has come to. What says something of one object alone, and nothing of the store, is
  // as good as success. The log hears of changes.
  void Note(const absl::Status& status);
  bool good() const;
  // Results that wait for it.
  void SetWaiting(int results, bool full);
  // No more results may come to wait.
  bool full() const;
  // A line for people; empty: all is well.
  std::string Problem() const;

 private:
  mutable Mutex mutex_;
  absl::Status last_ ABSL_GUARDED_BY(mutex_);
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool full_ ABSL_GUARDED_BY(mutex_) = false;
};

// What may be otherwise at the next try.
bool MayPass(const absl::Status& status);

}  // namespace reel::front
