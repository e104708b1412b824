// SPDX-License-Identifier: Apache-2.0
// Pictures and clips that requests come with, as objects by their hash: kept by who takes the
// request, fetched by who renders it.
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

// Confined to the node's thread, where answers come, too. What it is given outlives it, and what
// `pool` runs ends before it.
class Conditions {
 public:
  using Blob = std::shared_ptr<const std::string>;
  using List = std::vector<model::Condition>;
  Conditions(SharedStore store, TaskPool* pool, StoreState& state, const OwnThread& thread,
             const NodeOptions& options)
      : store_(std::move(store)), pool_(pool), state_(state), thread_(thread), options_(options) {}

  bool enabled() const { return store_.objects != nullptr; }
  // All of them are in the store, or `done` hears why not; FILE_NOT_FOUND of those sent ahead.
  void Keep(const std::string& tenant, const List& conditions,
            absl::AnyInvocable<void(absl::Status)> done);
  // In their order. DATA_LOSS: the store does not have one of them any more.
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
