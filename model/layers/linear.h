// SPDX-License-Identifier: Apache-2.0
// y = x W^T + b.
#pragma once

#include <string>
#include <vector>

#include "model/bridge/ops.h"
#include "model/layers/weights.h"

namespace reel::model {

struct Linear {
  at::Tensor weight;      // [out, in]
  at::Tensor bias;        // [out], or undefined
  CodedWeight e4m3 = {};  // the same weight, where MakeE4m3 was called
  CodedWeight int8 = {};  // and where MakeInt8 was
  E4m3Gelu gelu = {};     // where MakeE4m3Gelu was, and no e4m3

  at::Tensor operator()(const Ops& ops, const at::Tensor& x) const;
  // Of rows in any form; codes meet the weight in codes of their kind.
  at::Tensor operator()(const Ops& ops, const Rows& x) const;

  // Once; both sides must be multiples of kE4m3Sides. Scales are powers of two: what a checkpoint
  // stored in e4m3 keeps its values, and for others any scale is as good.
  void MakeE4m3();
  // Once; as int8_rows makes rows, so the width must be a multiple of kTurnedTogether.
  void MakeInt8();
  // In place of MakeE4m3, for a layer behind an RMS norm and with a GELU behind it.
  void MakeE4m3Gelu();
};

// Reads `name`.weight and, if `has_bias`, `name`.bias.
Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias = true);

// Several of one input as one layer, whose outputs stand side by side in the order of `names`.
Linear TakeLinears(Weights& weights, const std::vector<std::string>& names, int64_t in, int64_t out,
                   bool has_bias = true);

}  // namespace reel::model
