// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices with cublasLt, which comes with libtorch. A function of
// libreel_torch_cuda.so.
#pragma once

#include "model/bridge/matrix_products.h"

namespace reel::model {

// For one device, by MakeInTorchCuda.
inline constexpr char kMatrixProductsEntry[] = "reel_matrix_products";

}  // namespace reel::model
