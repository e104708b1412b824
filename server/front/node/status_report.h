// SPDX-License-Identifier: Apache-2.0
// Gathers the fleet's status as this server knows it, for operators and metrics, and checks that a
// fleet has what it needs.
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

// Confined to the node's thread. Arguments outlive it.
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

  // Called often, to measure how long the view lags behind the log.
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
  // The oldest known message that was not read yet, and since when it is known.
  uint64_t position_ = 0, newest_ = 0, goal_ = 0;
  absl::Duration since_, now_;
};

// Writes, reads, lists and deletes an object at `key`, which nothing else uses, and compares the
// store's clock with this machine's. Blocks. Each failed check says how to mend it.
std::vector<FleetCheck> CheckStore(ObjectStore& store, const std::string& key);

// Checks what this server sees of the other nodes.
std::vector<FleetCheck> CheckNodes(const FleetStatus& status);

}  // namespace reel::front
