// SPDX-License-Identifier: Apache-2.0
// Opens libreel_cuda.so: the CUDA variants of every operator, for a process that was given a
// device.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "kernels/dispatch/variant_table.h"

namespace reel::kernels {

// Loads the library and checks that both sides were built alike. It stays loaded until the process
// ends: its code may be running on a device. NOT_FOUND when it cannot be opened, with the linker's
// words; FAILED_PRECONDITION for another version.
absl::StatusOr<const CudaLibraryTable*> LoadCudaLibrary(const std::string& path);

// The capability of a device. NOT_FOUND for an index that this machine does not have.
absl::StatusOr<DeviceProperties> PropertiesOf(const CudaLibraryTable& library, int device);

}  // namespace reel::kernels
