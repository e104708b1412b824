// SPDX-License-Identifier: Apache-2.0
// Operators in front of a linear layer, in the form that it takes its rows in: rounded once, to
// that form. libtorch has none that write e4m3; plain ones are those of Ops.
#pragma once

#include "model/bridge/ops.h"

namespace reel::model {

// Of the layers of a request that may have it: e4m3 under the profile "fp8".
RowForm FormOf(const kernels::Execution& run);

// Borrowed for a call.
struct Modulation {
  const at::Tensor& scale;
  const at::Tensor& shift;
  double eps;
};

// x itself, or e4m3 of it.
Rows InForm(const Ops& ops, const at::Tensor& x, RowForm form);
// rms(x) * (1 + scale) + shift
Rows AdalnRmsNorm(const Ops& ops, const at::Tensor& x, const Modulation& modulation, RowForm form);
// sum = x + y, and its norm as above
struct SumAndRows {
  at::Tensor sum;
  Rows rows;
};
SumAndRows SumAdalnRmsNorm(const Ops& ops, const at::Tensor& x, const at::Tensor& y,
                           const Modulation& modulation, RowForm form);
Rows GeluTanh(const Ops& ops, const at::Tensor& x, RowForm form);

}  // namespace reel::model
