// SPDX-License-Identifier: Apache-2.0
// Visits the tensors of a layer, so that they can be counted and moved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

// Called with each tensor that is defined.
using TensorVisitor = std::function<void(at::Tensor&)>;
// Passes a visitor the tensors of one layer.
using LayerTensors = std::function<void(const TensorVisitor&)>;

// Tensors of a layer that is streamed lie in one buffer, each on a boundary of so many bytes.
inline constexpr int64_t kLayerAlignment = 256;

inline int64_t AlignedBytes(const at::Tensor& tensor) {
  const auto bytes = static_cast<int64_t>(tensor.nbytes());
  return (bytes + kLayerAlignment - 1) / kLayerAlignment * kLayerAlignment;
}

inline int64_t LayerBytes(const LayerTensors& layer) {
  int64_t bytes = 0;
  layer([&bytes](at::Tensor& tensor) { bytes += AlignedBytes(tensor); });
  return bytes;
}

// Bytes of the layers of a network that can be streamed.
struct StreamableBytes {
  int64_t all = 0, largest = 0;
  std::vector<int64_t> each = {};

  void Add(int64_t layer) {
    each.push_back(layer);
    all += layer;
    largest = std::max(largest, layer);
  }
};

inline void VisitIfDefined(at::Tensor& tensor, const TensorVisitor& visit) {
  if (tensor.defined()) visit(tensor);
}

}  // namespace reel::model
