// SPDX-License-Identifier: Apache-2.0
// The other function of libreel_torch_cuda.so: cublasLt, which comes with libtorch.
#pragma once

#include "model/bridge/matrix_products.h"

namespace reel::model {

// The caller owns what it returns.
using MatrixProductsEntry = MatrixProducts* (*)(int device);
inline constexpr char kMatrixProductsEntry[] = "reel_matrix_products";

}  // namespace reel::model
