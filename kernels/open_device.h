// SPDX-License-Identifier: Apache-2.0
// Opens a process's device by name, with all kernels for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_timer.h"

namespace reel::kernels {

// From a GPU's driver; empty and 0 on a CPU.
struct DeviceFacts {
  std::string name;  // e.g. "NVIDIA H200"
  int64_t memory_bytes = 0;
};

struct OpenedDevice {
  DeviceStream stream;  // a GPU's default stream; for a group the first member's
  KernelCatalog catalog;
  DeviceFacts facts = {};
  const CudaLibraryTable* library = nullptr;  // for a GPU; lives as long as the process
  std::vector<int> peers = {};                // the other members of a group
};

// `device` is "auto" (the first GPU if there is one) or a name that OwnDevicesOf takes
// (device_name.h). A UUID sets CUDA_VISIBLE_DEVICES, so call this before any use of CUDA and before
// other threads start. `library` is the path of libreel_cuda.so. INVALID_ARGUMENT for another name
// and for a group of different GPUs, NOT_FOUND for a missing device or library.
absl::StatusOr<OpenedDevice> OpenDevice(const std::string& device, const std::string& library);

// A timer for operators: events on a GPU, the clock on a CPU.
std::unique_ptr<KernelTimer> TimerFor(const OpenedDevice& opened);

// The path of libreel_cuda.so in this installation: lib/ beside the program's folder.
std::string CudaLibraryPath();

}  // namespace reel::kernels
