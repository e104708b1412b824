// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/matrix_products.h"

#include "model/bridge/cuda/lt_products.h"
#include "model/bridge/torch_cuda_library.h"

namespace reel::model {

MatrixProducts* ProductsByDevice::On(at::Device device) {
  const MutexLock lock(mutex_);
  const auto found = made_.find(device.index());
  if (found != made_.end()) return found->second.get();
  return made_.emplace(device.index(), make_(device)).first->second.get();
}

std::unique_ptr<MatrixProducts> MakeMatrixProducts(at::Device device) {
  if (!device.is_cuda()) return nullptr;
  const auto entry = reinterpret_cast<MatrixProductsEntry>(FindInTorchCuda(kMatrixProductsEntry));
  return std::unique_ptr<MatrixProducts>(entry == nullptr ? nullptr : entry(device.index()));
}

}  // namespace reel::model
