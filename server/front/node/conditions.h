// SPDX-License-Identifier: Apache-2.0
// Pictures and clips of requests, stored as objects by their hash. The node that takes the request
// stores them; the node that renders fetches them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/node/deliveries.h"
#include "server/front/node/fitness.h"
#include "server/front/node/node_options.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Confined to the node's thread, which also runs the callbacks. Arguments outlive it; `pool` stops
// before it.
class Conditions {
 public:
  using Blob = std::shared_ptr<const std::string>;
  using List = std::vector<model::Condition>;
  Conditions(SharedStore store, TaskPool* pool, StoreState& state, const OwnThread& thread,
             const NodeOptions& options)
      : store_(std::move(store)), pool_(pool), state_(state), thread_(thread), options_(options) {}

  bool enabled() const { return store_.objects != nullptr; }
  // Stores all of them, then calls `done`. FILE_NOT_FOUND: a file uploaded before the request is no
  // longer there.
  void Keep(const std::string& tenant, const List& conditions,
            absl::AnyInvocable<void(absl::Status)> done);
  // Fetches them, in order. DATA_LOSS: the store has lost one.
  void Fetch(const std::string& tenant, const List& conditions,
             absl::AnyInvocable<void(absl::StatusOr<std::vector<Blob>>)> done);

 private:
  const SharedStore store_;
  TaskPool* const pool_;  // null without a store
  StoreState& state_;
  const OwnThread& thread_;
  const NodeOptions& options_;
};

}  // namespace reel::front
