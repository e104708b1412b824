// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/matrix_products.h"

#include "model/bridge/torch_cuda_library.h"
#include "model/torch_cuda/lt_products.h"

namespace reel::model {

std::unique_ptr<MatrixProducts> MakeMatrixProducts(at::Device device) {
  return MakeInTorchCuda<MatrixProducts>(kMatrixProductsEntry, device);
}

}  // namespace reel::model
