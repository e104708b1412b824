// SPDX-License-Identifier: Apache-2.0
// Objects that nobody can ask for any more go: of videos that have expired or were deleted, of
// epochs that were overtaken. So do conditions that no waiting video names and that no caller may
// name.
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

// Confined to the node's thread. Of all nodes the first by name sweeps; for a moment two may, which
// does no harm.
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

  // Time has passed, and the view is complete.
  void Tick(absl::Duration now);
  // A video was deleted, whose result lies there; empty: nowhere.
  void OnDeleted(const Key& key, const std::string& object);

 private:
  void Delete(const std::string& object);
  // One way through all objects, a page at a time.
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
  // An object, and the video that it is named for.
  struct Found {
    const ObjectEntry& object;
    std::optional<MediaPlace> place;  // nothing: it is a condition
    std::optional<ViewVideo> video;
  };
  Found Find(const ObjectEntry& object) const;
  bool IsWanted(const Found& found, const std::set<std::string>& named) const;
  // After so long nobody comes any more who would want it.
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
