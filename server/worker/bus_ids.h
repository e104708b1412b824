// SPDX-License-Identifier: Apache-2.0
// PCI bus ids of devices.
#pragma once

#include <string>
#include <vector>

namespace reel::worker {

// Of `devices`, numbers of CUDA devices: "0000:1B:00.0". What CUDA_VISIBLE_DEVICES and CUDA's order
// make of a number, the bus says without doubt. Empty where the driver, `cuda`, or one of them is
// missing. The library stays open until the process ends.
std::vector<std::string> BusIds(const std::vector<int>& devices,
                                const std::string& cuda = "libcuda.so.1");

}  // namespace reel::worker
