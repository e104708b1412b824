// SPDX-License-Identifier: Apache-2.0
// The status of the fleet as this server knows it, gathered for people and metrics. Checks that a
// fleet has what it needs each say how to mend what is missing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/node/claimer.h"
#include "server/front/node/deliveries.h"
#include "server/front/node/fitness.h"
#include "server/front/node/holdings.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/node_state.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Confined to the node's thread. What it is given outlives it.
class StatusReport {
 public:
  StatusReport(const NodeState& state, const NodePorts& ports, const Claimer& claimer,
               const Holdings& holdings, const Deliveries& deliveries, const Fitness& fitness)
      : state_(state),
        ports_(ports),
        claimer_(claimer),
        holdings_(holdings),
        deliveries_(deliveries),
        fitness_(fitness) {}

  // Time has passed; often, so that what is behind is timed.
  void Tick(absl::Duration now);
  // As of the last tick.
  FleetStatus Make() const;

 private:
  void AddLog(FleetStatus& status) const;
  void AddNodes(FleetStatus& status) const;
  void AddBacklog(FleetStatus& status) const;
  void AddOwn(FleetStatus& status) const;

  const NodeState& state_;
  const NodePorts& ports_;
  const Claimer& claimer_;
  const Holdings& holdings_;
  const Deliveries& deliveries_;
  const Fitness& fitness_;
  // The oldest message that was known to be there and is not read: since when.
  uint64_t position_ = 0, newest_ = 0, goal_ = 0;
  absl::Duration since_, now_;
};

// Writes, reads, finds and deletes an object at `key`, which nobody else uses, and compares the
// store's clock with this machine's. Waits for the store.
std::vector<FleetCheck> CheckStore(ObjectStore& store, const std::string& key);

// Of what the server sees of others.
std::vector<FleetCheck> CheckNodes(const FleetStatus& status);

}  // namespace reel::front
