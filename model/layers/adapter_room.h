// SPDX-License-Identifier: Apache-2.0
// Memory for the adapters of requests behind the linear layers of a component.
#pragma once

#include <cstdint>
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
  };

  // Of so many columns, a multiple of kAdapterSlot.
  explicit AdapterRoom(int64_t columns) : columns_(columns) {}

  // The columns, zeros so far, of layers of one input, each [out, in], the parts of one product.
  LowRankColumns Add(const std::vector<std::string>& names, int64_t in, int64_t out,
                     const at::TensorOptions& options);

  int64_t columns() const { return columns_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t columns_;
  std::vector<Layer> layers_;
  int64_t bytes_ = 0;
};

}  // namespace reel::model
