// SPDX-License-Identifier: Apache-2.0
// A process's device by name, with every kernel that it has for it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"

namespace reel::kernels {

struct OpenedDevice {
  DeviceStream stream;  // of a GPU its default stream
  KernelCatalog catalog;
};

// `device` is "cpu", "cuda:N", or "auto": the first GPU where there is one. `library` is where
// libreel_cuda.so lies. INVALID_ARGUMENT for another name, NOT_FOUND for a device or library that
// is not there.
absl::StatusOr<OpenedDevice> OpenDevice(const std::string& device, const std::string& library);

// libreel_cuda.so of this process's installation: lib/ beside the folder of its program.
std::string CudaLibraryPath();

}  // namespace reel::kernels
