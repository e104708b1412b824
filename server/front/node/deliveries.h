// SPDX-License-Identifier: Apache-2.0
// Uploads results to the fleet's store: retries until they are stored, or until this node no longer
// owns them.
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

// Storage that every server of the fleet can read.
struct SharedStore {
  ObjectStore* objects = nullptr;  // null: there is none
  // Returns the path of an attempt's complete file; null if results stay on the node that rendered
  // them.
  std::function<std::string(const std::string& id, int attempt)> path_of = nullptr;
};

// Confined to the node's thread. Arguments outlive it.
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
  // Uploads the result of `video`, which succeeded here. `done` gets the object's key; ABORTED once
  // `mine` returns false; any other error if the result can never be uploaded.
  void Deliver(const Video& video, uint32_t epoch, std::function<bool()> mine,
               Answer<std::string> done);
  // True if so many uploads wait that this node should render nothing more.
  bool full() const { return enabled() && counts_.waiting >= state_.options.deliver_backlog; }

  // Uploads in progress, and the outcomes of earlier ones. A failed try is repeated.
  struct Counts {
    int waiting = 0;
    int64_t waiting_bytes = 0;
    int64_t stored = 0, given_up = 0, failed_tries = 0;
  };
  const Counts& counts() const { return counts_; }
  // Whether the last call to the store succeeded.
  bool store_is_good() const { return store_state_.good(); }

  // Probes a store that was unreachable.
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
