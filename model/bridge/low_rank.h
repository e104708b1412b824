// SPDX-License-Identifier: Apache-2.0
// The operator of requests' adapters: products of two small matrices beside a linear layer, chosen
// row by row.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/bridge/ops.h"
#include "model/request_adapter.h"

namespace reel::model {

// Which of a model's columns have ever held an adapter. The others are zeros: calls leave them out.
struct ColumnsInUse {
  std::vector<bool> is_used;  // by product
  int64_t count = 0;          // of those that are
};

// Memory behind a linear layer that stands for several of one input, the parts. What is in the
// columns may change between calls; where they are does not, so that recorded calls stay good until
// columns are used that none had used before.
struct LowRankColumns {
  at::Tensor down;  // [slots, parts, kAdapterSlot, in]
  at::Tensor up;    // [parts, out / parts, slots, kAdapterSlot]
  // The layer's weight and `up` in one tensor, where `up` is stored behind the weight: [out, in +
  // columns of all parts], columns in the order of `down`. An output has zeros in the columns of
  // other parts. Else undefined.
  at::Tensor whole = {};
  std::shared_ptr<const ColumnsInUse> in_use = {};
  size_t product = 0;  // its place there

  bool defined() const { return down.defined(); }
  bool is_used() const { return in_use->is_used[product]; }
};

// y += ((x down^T) * scales) up^T of each part, in place. The scales, fp32 [..., columns],
// broadcast to the rows of x; as many of the first slots are used. `y` is contiguous.
void AddLowRank(const Ops& ops, const at::Tensor& x, const LowRankColumns& columns,
                const at::Tensor& scales, const at::Tensor& y);

// Writes (x down^T) * scales into the room behind the rows of x. Returns the rows with it and as
// many columns of `whole`: their product is that of the layer with its adapters.
struct LengthenedOperands {
  at::Tensor x, weight;
};
LengthenedOperands Lengthened(const Ops& ops, const Rows& x, const LowRankColumns& columns,
                              const at::Tensor& scales);

}  // namespace reel::model
