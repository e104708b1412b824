// SPDX-License-Identifier: Apache-2.0
// Opens libreel_cuda.so: the CUDA variants of every operator, for a process with a device.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "kernels/dispatch/variant_table.h"

namespace reel::kernels {

// Loads the library and checks that both sides have the same layout. It stays loaded until the
// process ends, since its code may be running on a device. NOT_FOUND if it cannot be opened, with
// the linker's message; FAILED_PRECONDITION for another version.
absl::StatusOr<const CudaLibraryTable*> LoadCudaLibrary(const std::string& path);

// The capability of a device. NOT_FOUND if this machine has no device of this index.
absl::StatusOr<DeviceProperties> PropertiesOf(const CudaLibraryTable& library, int device);

}  // namespace reel::kernels
