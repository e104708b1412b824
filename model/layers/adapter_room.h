// SPDX-License-Identifier: Apache-2.0
// Memory for the adapters of requests behind the linear layers of a component.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/bridge/low_rank.h"

namespace reel::model {

// Filled during a load; then its layers stay, and what is in their columns changes. Without values
// on libtorch's device without memory.
class AdapterRoom {
 public:
  // One layer's views of the columns.
  struct Layer {
    std::string name;  // as in a folder of diffusers
    at::Tensor down;   // [slots, kAdapterSlot, in]
    at::Tensor up;     // [out, columns]
    size_t product;    // that it is a part of
  };

  // Of so many columns, a multiple of kAdapterSlot.
  explicit AdapterRoom(int64_t columns) : columns_(columns) {}

  // The columns, zeros so far, of layers of one input, each [out, in], the parts of one product.
  LowRankColumns Add(const std::vector<std::string>& names, int64_t in, int64_t out,
                     const at::TensorOptions& options);

  int64_t columns() const { return columns_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int64_t bytes() const { return bytes_; }
  bool IsUsed(const Layer& layer) const { return in_use_->is_used[layer.product]; }
  // Before something is written to the layer's columns.
  void Use(const Layer& layer);

 private:
  int64_t columns_;
  std::shared_ptr<ColumnsInUse> in_use_ = std::make_shared<ColumnsInUse>();
  std::vector<Layer> layers_;
  int64_t bytes_ = 0;
};

}  // namespace reel::model
