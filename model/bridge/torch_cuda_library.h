// SPDX-License-Identifier: Apache-2.0
// libreel_torch_cuda.so: what needs libtorch's CUDA half to be linked, opened where a device is.
#pragma once

#include "kernels/dispatch/kernel_variant.h"

namespace reel::model {

// A function of it by its name. Null where it does not lie beside the library of kernels that the
// process has opened.
void* FindInTorchCuda(const char* function);

// The table of the library of kernels that the process has opened; null: none is.
const kernels::CudaLibraryTable* OpenedKernels();

}  // namespace reel::model
