// SPDX-License-Identifier: Apache-2.0
// libreel_torch_cuda.so: what needs libtorch's CUDA half to be linked, opened where a device is.
#pragma once

#include <memory>

#include "kernels/dispatch/kernel_variant.h"
#include "model/bridge/aten.h"

namespace reel::model {

// A function of it by its name. Null where it does not lie beside the library of kernels that the
// process has opened.
void* FindInTorchCuda(const char* function);

// What its function `entry` makes for a GPU, `Made* (*)(int device)`, whose caller owns it. Null as
// above, and for a CPU.
template <typename Made>
std::unique_ptr<Made> MakeInTorchCuda(const char* entry, at::Device device) {
  if (!device.is_cuda()) return nullptr;
  const auto make = reinterpret_cast<Made* (*)(int)>(FindInTorchCuda(entry));
  return std::unique_ptr<Made>(make == nullptr ? nullptr : make(device.index()));
}

// The table of the library of kernels that the process has opened; null: none is.
const kernels::CudaLibraryTable* OpenedKernels();

}  // namespace reel::model
