// SPDX-License-Identifier: Apache-2.0
// From a process's device to libtorch's.
#pragma once

#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "model/bridge/aten.h"

namespace reel::model {

// For a CUDA device this loads libtorch's CUDA half, which a process on a CPU never does, and turns
// TF32 off in its convolutions; the library stays until the process ends. FAILED_PRECONDITION when
// that, or the device, is not there.
absl::StatusOr<at::Device> TorchDeviceOf(kernels::DeviceStream stream);

}  // namespace reel::model
