// SPDX-License-Identifier: Apache-2.0
// Threads of a node that wait for the fleet's store, for brokers and for the disk.
#pragma once

#include <memory>

#include "server/front/node/media_fetches.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

struct NodePools {
  std::unique_ptr<TaskPool> uploads, reads;  // null without a store
  std::unique_ptr<TaskPool> checks;          // for `reel doctor`
  std::unique_ptr<TaskPool> looks;           // at the broker, for the barrier and the clock
  std::unique_ptr<TaskPool> probes;          // of the disk
  std::unique_ptr<MediaFetches> fetches;     // null without a store

  // Waits for what runs. Streams may still hold what was fetched.
  void Stop() {
    for (std::unique_ptr<TaskPool>* pool : {&uploads, &reads, &checks, &looks, &probes}) {
      pool->reset();
    }
  }
};

}  // namespace reel::front
