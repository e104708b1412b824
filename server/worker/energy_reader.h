// SPDX-License-Identifier: Apache-2.0
// The energy that a worker's devices have taken, as NVIDIA's management library tells it: a library
// of the driver's own, opened where it is, and needed by nobody.
#pragma once

#include <string>
#include <vector>

#include "server/worker/engine/energy_watch.h"

namespace reel::worker {

// Of all devices with these bus ids (BusIds) together. Null where the library or a counter of one
// of them is missing (before Volta there was none), and without devices. The library stays open
// until the process ends.
EnergyReader EnergyReaderFor(const std::vector<std::string>& bus_ids,
                             const std::string& management = "libnvidia-ml.so.1");

}  // namespace reel::worker
