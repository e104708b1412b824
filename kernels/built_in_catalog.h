// SPDX-License-Identifier: Apache-2.0
// The one list of all operators.
#pragma once

#include <vector>

#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_row.h"

namespace reel::kernels {

// The CPU rows of every operator, by name.
std::vector<OpRows> BuiltInCpuRows();

// The catalog of a process: rows of the CUDA library (null: none) before those of the CPU.
KernelCatalog BuiltInCatalog(DeviceCapability capability = {},
                             const CudaLibraryTable* library = nullptr);

}  // namespace reel::kernels
