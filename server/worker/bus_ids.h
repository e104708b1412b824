// SPDX-License-Identifier: Apache-2.0
// The PCI bus ids of devices.
#pragma once

#include <string>
#include <vector>

namespace reel::worker {

// The bus ids ("0000:1B:00.0") of `devices`, which are numbers of CUDA devices:
// CUDA_VISIBLE_DEVICES and CUDA's order change numbers, never bus ids. Empty if the driver, `cuda`
// or a device is missing. The library stays open until the process ends.
std::vector<std::string> BusIds(const std::vector<int>& devices,
                                const std::string& cuda = "libcuda.so.1");

}  // namespace reel::worker
