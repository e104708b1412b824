// SPDX-License-Identifier: Apache-2.0
// References to what a node works with: dispatcher, log, view, clock and threads.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/node/fitness.h"
#include "server/front/node/fleet_clock.h"
#include "server/front/node/means.h"
#include "server/front/node/media_fetches.h"
#include "server/front/node/view_barrier.h"
#include "server/front/node/write_queue.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Threads for a node's blocking calls to the fleet's store, brokers and disk.
struct NodePools {
  std::unique_ptr<TaskPool> uploads, reads;  // null without a store
  std::unique_ptr<TaskPool> checks;          // for `reel doctor`
  std::unique_ptr<TaskPool> looks;           // calls to the broker, for the barrier and the clock
  std::unique_ptr<TaskPool> probes;          // of the disk
  std::unique_ptr<TaskPool> spool;           // for uploads
  std::unique_ptr<MediaFetches> fetches;     // null without a store

  // Waits for running tasks. Streams may still hold fetched parts.
  void Stop() {
    for (std::unique_ptr<TaskPool>* pool : {&spool, &uploads, &reads, &checks, &looks, &probes}) {
      pool->reset();
    }
  }
};

// The latest status report. Thread-safe.
class StatusBoard {
 public:
  void Set(FleetStatus status) {
    const MutexLock lock(mutex_);
    status_ = std::move(status);
  }
  FleetStatus Get() const {
    const MutexLock lock(mutex_);
    return status_;
  }

 private:
  mutable Mutex mutex_;
  FleetStatus status_ ABSL_GUARDED_BY(mutex_);
};

// State shared between a node's thread and its callers' threads. Each member is thread-safe.
struct NodeShared {
  // `wake`: see ViewChanges.
  explicit NodeShared(std::function<void()> wake) : changes(std::move(wake)) {}

  ViewChanges changes;
  ReadyModels ready_models;
  StatusBoard status;
  Fitness fitness;
  StoreState store;
};

// All of them outlive the node.
struct NodePorts {
  Dispatcher& jobs;
  LogPort& port;
  WriteQueue& writes;
  FleetView& view;
  FleetClock& clock;
  const OwnThread& thread;

  // WriteQueue::Put with the answer on the node's thread.
  void Write(const LogSubject& subject, std::string payload, absl::Duration patience,
             WriteQueue::Done done) const {
    writes.Put(subject, std::move(payload), patience,
               thread.Here<absl::StatusOr<WriteResult>>(std::move(done)));
  }
};

}  // namespace reel::front
