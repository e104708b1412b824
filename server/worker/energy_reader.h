// SPDX-License-Identifier: Apache-2.0
// The energy that a worker's devices have taken, as NVIDIA's management library tells it. Both
// libraries are the driver's own: opened where they are, and needed by nobody.
#pragma once

#include <string>
#include <vector>

#include "server/worker/engine/energy_watch.h"

namespace reel::worker {

struct EnergyLibraries {
  std::string cuda = "libcuda.so.1";  // knows which device a number stands for
  std::string management = "libnvidia-ml.so.1";
};

// Of all `devices`, numbers of CUDA devices, together. Null where a library or a counter of one of
// them is missing (before Volta there was none), and without devices. The libraries stay open until
// the process ends.
EnergyReader EnergyReaderFor(const std::vector<int>& devices,
                             const EnergyLibraries& libraries = {});

}  // namespace reel::worker
