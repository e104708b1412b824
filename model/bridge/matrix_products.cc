// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/matrix_products.h"

#include "model/bridge/cuda/lt_products.h"
#include "model/bridge/torch_cuda_library.h"

namespace reel::model {

std::unique_ptr<MatrixProducts> MakeMatrixProducts(at::Device device) {
  if (!device.is_cuda()) return nullptr;
  const auto entry = reinterpret_cast<MatrixProductsEntry>(FindInTorchCuda(kMatrixProductsEntry));
  return std::unique_ptr<MatrixProducts>(entry == nullptr ? nullptr : entry(device.index()));
}

}  // namespace reel::model
