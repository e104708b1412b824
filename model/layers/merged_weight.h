// SPDX-License-Identifier: Apache-2.0
// A stored weight with the products of adapters added to it.
#pragma once

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/weights/stored_tensor.h"

namespace reel::model {

// weight + sum of scale * (up down), in fp32 in the order of the products, rounded once to the type
// that is held. A matrix, made some rows at a time on the device, so that a load needs no tensor in
// fp32. The files' pages are dropped. DATA_LOSS: a value of the sum is not finite in that type.
absl::StatusOr<at::Tensor> ReadMerged(const StoredTensor& stored, const at::TensorOptions& held);

// One of a product's matrices, `down` or `up`, in fp32. The file's pages are dropped.
absl::StatusOr<at::Tensor> ReadMatrix(const LowRankProduct& product, const TensorEntry& entry,
                                      at::Device device);

}  // namespace reel::model
