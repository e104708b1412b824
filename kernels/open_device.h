// SPDX-License-Identifier: Apache-2.0
// A process's device by name, with every kernel that it has for it.
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

// Of a GPU, as its driver tells; empty and 0 on a CPU.
struct DeviceFacts {
  std::string name;  // e.g. "NVIDIA H200"
  int64_t memory_bytes = 0;
};

struct OpenedDevice {
  DeviceStream stream;  // of a GPU its default stream; of a group the first member's
  KernelCatalog catalog;
  DeviceFacts facts = {};
  const CudaLibraryTable* library = nullptr;  // of a GPU; for the rest of the process
  std::vector<int> peers = {};                // the other members of a group
};

// `device` is "auto", the first GPU where there is one, or a name that OwnDevicesOf takes
// (device_name.h); of a UUID it makes CUDA_VISIBLE_DEVICES, so it comes before anything asks CUDA
// and before other threads begin. `library` is where libreel_cuda.so lies. INVALID_ARGUMENT for
// another name and for a group of GPUs that are not alike, NOT_FOUND for a device or library that
// is not there.
absl::StatusOr<OpenedDevice> OpenDevice(const std::string& device, const std::string& library);

// Times operators there: events on a GPU, the clock on a CPU.
std::unique_ptr<KernelTimer> TimerFor(const OpenedDevice& opened);

// libreel_cuda.so of this process's installation: lib/ beside the folder of its program.
std::string CudaLibraryPath();

}  // namespace reel::kernels
