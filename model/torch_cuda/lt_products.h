// SPDX-License-Identifier: Apache-2.0
// A function of libreel_torch_cuda.so: cublasLt, which comes with libtorch.
#pragma once

#include "model/bridge/matrix_products.h"

namespace reel::model {

// Of a device, by MakeInTorchCuda.
inline constexpr char kMatrixProductsEntry[] = "reel_matrix_products";

}  // namespace reel::model
