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
    at::Tensor up;     // [out, slots, kAdapterSlot]
    size_t product;    // that it is a part of
  };

  // Of so many columns, a multiple of kAdapterSlot.
  explicit AdapterRoom(int64_t columns) : columns_(columns) {}

  // The columns, zeros so far, of layers of one input, each [out, in], the parts of one product.
  LowRankColumns Add(const std::vector<std::string>& names, int64_t in, int64_t out,
                     const at::TensorOptions& options);
  // The same behind a weight [parts * out, in], which becomes a view of the columns' `whole`.
  LowRankColumns AddBehind(const std::vector<std::string>& names, at::Tensor& weight);

  // Stores columns behind weights from here on, where AddBehind is asked for: of few parts, so that
  // the zeros for other parts cost little. Such weights must be plain and stay where they are.
  void StandBehindWeights() { stands_behind_ = true; }
  bool StandsBehind(size_t parts) const { return stands_behind_ && parts <= kMostPartsBehind; }

  int64_t columns() const { return columns_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int64_t bytes() const { return bytes_; }
  bool IsUsed(const Layer& layer) const { return in_use_->is_used[layer.product]; }
  // Before something is written to the layer's columns.
  void Use(const Layer& layer);

 private:
  static constexpr size_t kMostPartsBehind = 3;

  LowRankColumns Added(const std::vector<std::string>& names, LowRankColumns made);

  int64_t columns_;
  bool stands_behind_ = false;
  std::shared_ptr<ColumnsInUse> in_use_ = std::make_shared<ColumnsInUse>();
  std::vector<Layer> layers_;
  int64_t bytes_ = 0;
};

}  // namespace reel::model
