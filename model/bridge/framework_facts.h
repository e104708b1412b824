// SPDX-License-Identifier: Apache-2.0
// libtorch's version, and its view of a device's memory. Knows no tensor.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kernels/dispatch/execution.h"
#include "model/device_memory.h"

namespace reel::model {

// Null for a CPU. All zero until libtorch's CUDA half is loaded, which the first model does. The
// driver is asked once a second at most: it answers slowly.
MemoryReader TorchMemoryReader(kernels::DeviceStream stream);

// Asks it by ProbeTorchDevice. Null for a CPU.
DeviceProbe TorchDeviceProbe(kernels::DeviceStream stream);

// Frees what its allocator keeps for the next tensors. Null for a CPU.
MemoryReturner TorchMemoryReturner(kernels::DeviceStream stream);

// Bounds what its allocator takes, a hard limit: what goes beyond is out of memory. Does nothing on
// a CPU. FAILED_PRECONDITION without libtorch's CUDA half or libreel_torch_cuda.so.
absl::Status LimitTorchMemory(kernels::DeviceStream stream, int64_t bytes);

// Version of the libtorch that this was compiled with, e.g. "2.11.0".
std::string FrameworkVersion();

}  // namespace reel::model
