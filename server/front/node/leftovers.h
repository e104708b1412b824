// SPDX-License-Identifier: Apache-2.0
// Handles videos that an earlier process of this node rendered: writes their ends if the log still
// lacks them, and deletes those that the log gave to other nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/front/fleet/fleet_view.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/node/node_options.h"

namespace reel::front {

struct Leftover {
  FleetState::Key key;
  std::shared_ptr<Job> job;  // as this server's store has it
  uint64_t last_sequence = 0;
};

// Confined to the node's thread. Arguments outlive it.
class Leftovers {
 public:
  using Key = FleetState::Key;
  Leftovers(Dispatcher& jobs, FleetView& view, const OwnThread& thread, const NodeOptions& options,
            std::function<void(Leftover)> found)
      : jobs_(jobs), view_(view), thread_(thread), options_(options), found_(std::move(found)) {}

  // Called while the view is up to date. The first call reads through this server's store.
  void Look();
  // Whether everything was found or removed. Before that nothing is claimed or released.
  bool done() const { return begun_ && open_ == 0; }

 private:
  enum class Use { kNone, kWaits, kKept };
  Use UseOf(const Key& key, const Video& video) const;
  void NextPage(const ListQuery& query);
  void OnPage(ListQuery query, const absl::StatusOr<ListPage>& page);
  void Find(const Key& key);
  void OnFound(const Key& key, const absl::StatusOr<std::shared_ptr<Job>>& job);
  void Remove(const Key& key);

  Dispatcher& jobs_;
  FleetView& view_;
  const OwnThread& thread_;
  const NodeOptions& options_;
  const std::function<void(Leftover)> found_;
  bool begun_ = false;
  int open_ = 0;  // calls to the dispatcher in flight
};

}  // namespace reel::front
