// SPDX-License-Identifier: Apache-2.0
// Results on their way into the fleet's store: tried until they are there, or are no longer this
// node's to bring.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/jobs/job_service.h"
#include "server/front/node/fitness.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Where a node keeps what all servers are to have.
struct SharedStore {
  ObjectStore* objects = nullptr;  // null: there is none
  // The complete file of an attempt; null: results stay with who has rendered them.
  std::function<std::string(const std::string& id, int attempt)> path_of = nullptr;
};

// Confined to the node's thread. What it is given outlives it.
class Deliveries {
 public:
  Deliveries(NodeState& state, const NodePorts& ports, SharedStore store, TaskPool* pool,
             StoreState& store_state)
      : state_(state),
        ports_(ports),
        store_(std::move(store)),
        pool_(pool),
        store_state_(store_state) {}

  bool enabled() const { return store_.objects != nullptr && store_.path_of != nullptr; }
  // `video` has succeeded here. `mine`: whether it is still to be brought; once it is not, `done`
  // hears ABORTED. Other errors: it can never be brought. Else the key under which it lies.
  void Deliver(const Video& video, uint32_t epoch, std::function<bool()> mine,
               Answer<std::string> done);
  // So many are on their way that nothing more should be rendered here.
  bool full() const { return enabled() && counts_.waiting >= state_.options.deliver_backlog; }

  // On their way, and what has come of others; a try that failed is not the last one.
  struct Counts {
    int waiting = 0;
    int64_t waiting_bytes = 0;
    int64_t stored = 0, given_up = 0, failed_tries = 0;
  };
  const Counts& counts() const { return counts_; }
  // Took what came last.
  bool store_is_good() const { return store_state_.good(); }

  // Time has passed: a store that was away is looked at.
  void Tick(absl::Duration now);

 private:
  struct Delivery {
    ObjectFile file;
    std::string key, video;
    std::function<bool()> mine;
    Answer<std::string> done;
    absl::Duration pause;
  };
  using Shared = std::shared_ptr<Delivery>;
  void Try(const Shared& delivery);
  void OnTried(const Shared& delivery, const absl::Status& status);
  void TryLater(const Shared& delivery);
  void End(const Shared& delivery, const absl::Status& status);
  void Count(int by, int64_t bytes);

  NodeState& state_;
  const NodePorts& ports_;
  const SharedStore store_;
  TaskPool* const pool_;  // null without a store
  StoreState& store_state_;
  Counts counts_;
  absl::Duration looked_ = -absl::InfiniteDuration();
  bool looking_ = false;
};

}  // namespace reel::front
