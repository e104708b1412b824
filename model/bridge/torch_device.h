// SPDX-License-Identifier: Apache-2.0
// Converts a process's device to libtorch's.
#pragma once

#include <c10/core/DeviceGuard.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "model/bridge/aten.h"

namespace reel::model {

// For a CUDA device this loads libtorch's CUDA half, which a process on a CPU never does, and turns
// TF32 off in its convolutions. The library stays until the process ends. FAILED_PRECONDITION if
// the library or the device is missing.
absl::StatusOr<at::Device> TorchDeviceOf(kernels::DeviceStream stream);

// Has the device make a number and waits for it: ABORTED where its context is lost, which the call
// that lost it need not have said.
absl::Status ProbeTorchDevice(kernels::DeviceStream stream);

// While it lives, this thread works for a model: without gradients, and with the model's device as
// the current one, on which kernels that are launched by hand go. libtorch's own calls set it for
// themselves and set back what was there, which is the first device where nobody says otherwise.
class ModelScope {
 public:
  explicit ModelScope(at::Device device)
      : current_(device.is_cuda() ? std::optional(device) : std::nullopt) {}

 private:
  const c10::InferenceMode no_gradients_;
  const c10::OptionalDeviceGuard current_;
};

}  // namespace reel::model
