// SPDX-License-Identifier: Apache-2.0
// Makes the catalog of all operators.
#pragma once

#include <vector>

#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// The CPU variants of every operator, by name.
std::vector<OpVariants> BuiltInCpuVariants();

// The catalog of a process: variants of the CUDA library (null: none) before those of the CPU.
KernelCatalog BuiltInCatalog(DeviceCapability capability = {},
                             const CudaLibraryTable* library = nullptr);

}  // namespace reel::kernels
