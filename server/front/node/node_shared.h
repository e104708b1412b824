// SPDX-License-Identifier: Apache-2.0
// State that a node's thread shares with those of its callers.
#pragma once

#include <functional>
#include <utility>

#include "server/front/node/fitness.h"
#include "server/front/node/ready_models.h"
#include "server/front/node/status_report.h"
#include "server/front/node/store_state.h"
#include "server/front/node/view_changes.h"

namespace reel::front {

// Each is thread-safe.
struct NodeShared {
  // `wake`: see ViewChanges.
  explicit NodeShared(std::function<void()> wake) : changes(std::move(wake)) {}

  ViewChanges changes;
  ReadyModels ready_models;
  StatusBoard status;
  Fitness fitness;
  StoreState store;
};

}  // namespace reel::front
