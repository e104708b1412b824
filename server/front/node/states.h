// SPDX-License-Identifier: Apache-2.0
// States that finished videos keep, as objects beside their results. Stored before the video counts
// as finished, fetched by whoever continues it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/jobs/state_pieces.h"
#include "server/front/node/fitness.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Confined to the node's thread, which also runs the callbacks. Arguments outlive it.
class States {
 public:
  using Key = FleetState::Key;
  using Blob = std::shared_ptr<const std::string>;
  using Done = absl::AnyInvocable<void(absl::Status)>;
  // The pools stop before it.
  States(NodeState& state, const NodePorts& ports, ObjectStore* objects, TaskPool* uploads,
         TaskPool* reads, StoreState& store_state)
      : state_(state),
        ports_(ports),
        objects_(objects),
        uploads_(uploads),
        reads_(reads),
        store_state_(store_state) {}

  // Stores the state of this epoch's video, then calls `done`. Retries an unreachable store for as
  // long as `wanted` returns true.
  void Keep(const Key& video, uint32_t epoch, std::shared_ptr<const StatePieces> state,
            std::function<bool()> wanted, Done done);
  // DATA_LOSS: the store does not have the state, or its bytes differ.
  void Fetch(const ViewVideo& video, const std::string& sha256,
             absl::AnyInvocable<void(absl::StatusOr<Blob>)> done);
  // Number of fetches that ended with DATA_LOSS.
  int64_t damaged() const { return damaged_; }

 private:
  struct Upload {
    std::string key;
    std::shared_ptr<const StatePieces> state;
    std::function<bool()> wanted;
    Done done;
    absl::Duration pause;
  };
  using Shared = std::shared_ptr<Upload>;
  void Try(const Shared& upload);
  void OnTried(const Shared& upload, const absl::Status& status);
  void TryLater(const Shared& upload);

  NodeState& state_;
  const NodePorts& ports_;
  ObjectStore* const objects_;  // null without a store
  TaskPool* const uploads_;     // null without a store
  TaskPool* const reads_;       // null without a store
  StoreState& store_state_;
  int64_t damaged_ = 0;
};

}  // namespace reel::front
