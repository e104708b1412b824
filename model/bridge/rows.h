// SPDX-License-Identifier: Apache-2.0
// Rows on the way to a linear layer, and the weights that they meet there: in the model's type, or
// e4m3 with a scale for each row, where the profile "fp8" asks for it.
#pragma once

#include "model/bridge/aten.h"

namespace reel::model {

enum class RowForm {
  kPlain,
  kE4m3,
};

struct Rows {
  at::Tensor values;      // [..., D], e4m3 where there are scales
  at::Tensor scale = {};  // fp32 [...], or undefined
};

// Of a linear layer: each output's row of the weights, with the scale of the row.
struct E4m3Weight {
  at::Tensor codes;  // [out, in]
  at::Tensor scale;  // fp32 [out]

  bool defined() const { return codes.defined(); }
};

// What 8-bit products want of both sides of a weight.
inline constexpr int64_t kE4m3Sides = 16;

}  // namespace reel::model
