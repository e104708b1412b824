// SPDX-License-Identifier: Apache-2.0
// Checks that a fleet has what it needs; each says how to mend what is missing.
#pragma once

#include <string>
#include <vector>

#include "server/front/fleet/log_port.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Writes, reads, finds and deletes an object at `key`, which nobody else uses, and compares the
// store's clock with this machine's. Waits for the store.
std::vector<FleetCheck> CheckStore(ObjectStore& store, const std::string& key);

// Of what the server sees of others.
std::vector<FleetCheck> CheckNodes(const FleetStatus& status);

}  // namespace reel::front
