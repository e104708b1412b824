// SPDX-License-Identifier: Apache-2.0
// States that finished videos keep, as objects beside their results: put there before the video
// counts as finished, fetched by who goes on from it.
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
#include "server/front/jobs/clock.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/state_pieces.h"
#include "server/front/node/deliveries.h"
#include "server/front/node/fold_waiters.h"
#include "server/front/node/node_options.h"
#include "server/front/node/store_state.h"
#include "server/front/objects/task_pool.h"

namespace reel::front {

// Confined to the node's thread, where answers come, too.
class States {
 public:
  using Key = FleetState::Key;
  using Blob = std::shared_ptr<const std::string>;
  using Done = absl::AnyInvocable<void(absl::Status)>;
  // What it works with; all of it outlives it, and what the pools run ends before it.
  struct Parts {
    SharedStore store;
    TaskPool *uploads, *reads;  // null without a store
    StoreState& state;
    FoldWaiters& waiters;
    const OwnThread& thread;
    const NodeOptions& options;
    const Clock& clock;
  };
  explicit States(Parts parts) : parts_(std::move(parts)) {}

  // The state that the video of this epoch leaves is in the store, or `done` hears why not. A store
  // that is away is tried again while it is `wanted`.
  void Keep(const Key& video, uint32_t epoch, std::shared_ptr<const StatePieces> state,
            std::function<bool()> wanted, Done done);
  // DATA_LOSS: the store does not have it, or something else.
  void Fetch(const ViewVideo& video, const std::string& sha256,
             absl::AnyInvocable<void(absl::StatusOr<Blob>)> done);

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

  const Parts parts_;
};

}  // namespace reel::front
