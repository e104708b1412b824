// SPDX-License-Identifier: Apache-2.0
// Deletes objects that no call can reach any more. Those are results of expired and deleted videos
// and of superseded epochs, and conditions that neither a queued video nor a caller can name.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/node/deliveries.h"
#include "server/front/node/files.h"
#include "server/front/node/fitness.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"
#include "server/front/node/object_keys.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// The first live node by name sweeps; two may do so for a moment, which is harmless. Confined to
// the node's thread.
class Janitor {
 public:
  using Key = FleetState::Key;
  Janitor(const NodeState& state, const NodePorts& ports, ObjectStore* objects, TaskPool* pool,
          StoreState& store_state, Files& files)
      : state_(state),
        ports_(ports),
        objects_(objects),
        pool_(pool),
        store_state_(store_state),
        files_(files) {}

  // Called on every tick while the view is complete.
  void Tick(absl::Duration now);
  // A video was deleted; `object` is the key of its result, empty if it has none.
  void OnDeleted(const Key& key, const std::string& object);

 private:
  void Delete(const std::string& object);
  // One pass over all objects, a page at a time.
  struct Sweep {
    std::string prefix, after;
    int kept = 0, removed = 0;
  };
  bool IsMine() const;
  void NextPage(std::shared_ptr<Sweep> sweep);
  void OnPage(const std::shared_ptr<Sweep>& sweep, const absl::StatusOr<ObjectPage>& page);
  void Remove(std::shared_ptr<Sweep> sweep, std::vector<std::string> keys, bool more);
  void GoOn(const std::shared_ptr<Sweep>& sweep, bool more);

  std::set<std::string> Named() const;
  // An object and the video that its key names.
  struct Found {
    const ObjectEntry& object;
    std::optional<MediaPlace> place;  // nullopt for a condition
    std::optional<ViewVideo> video;
  };
  Found Find(const ObjectEntry& object) const;
  bool IsWanted(const Found& found, const std::set<std::string>& named) const;
  // The age after which no request can still want the object.
  absl::Duration PatienceWith(const Found& found) const;

  const NodeState& state_;
  const NodePorts& ports_;
  ObjectStore* const objects_;  // null without a store
  TaskPool* const pool_;        // null without a store
  StoreState& store_state_;
  Files& files_;
  absl::Duration swept_ = -absl::InfiniteDuration();
  bool sweeping_ = false;
};

}  // namespace reel::front
