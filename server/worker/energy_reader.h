// SPDX-License-Identifier: Apache-2.0
// Reads the energy that a worker's devices have used from NVIDIA's management library (NVML), which
// comes with the driver and is optional.
#pragma once

#include <string>
#include <vector>

#include "server/worker/engine/energy_watch.h"

namespace reel::worker {

// Sums all devices with these bus ids (BusIds). Null if the library or the counter of one device is
// missing (as before Volta), and without devices. The library stays open until the process ends.
EnergyReader EnergyReaderFor(const std::vector<std::string>& bus_ids,
                             const std::string& management = "libnvidia-ml.so.1");

}  // namespace reel::worker
