// SPDX-License-Identifier: Apache-2.0
// Operators in front of a linear layer, in the form that it takes its rows in: rounded once, to
// that form. libtorch has none that write codes; plain ones are those of Ops.
#pragma once

#include <vector>

#include "model/bridge/ops.h"

namespace reel::model {

// The form of rows for layers that support it: e4m3 under the profile "fp8", int8 under "int8".
RowForm FormOf(const kernels::Execution& run);

// x itself, or codes of it with a scale a row.
Rows InForm(const Ops& ops, const at::Tensor& x, RowForm form);
// rms(x) * (1 + scale) + shift
Rows AdalnRmsNorm(const Ops& ops, const at::Tensor& x, const Modulation& modulation,
                  const RowNeeds& needs);
// What is added to x, in parts of neighbouring rows (its first dimension); all but the last of a
// part's dimensions may have the stride 0. Times `gate`, a vector as the norm's are, where defined.
struct Addend {
  const std::vector<at::Tensor>& parts;
  const at::Tensor& gate;
};
// sum = x + y, and its norm as above
struct SumAndRows {
  at::Tensor sum;
  Rows rows;
};
SumAndRows SumAdalnRmsNorm(const Ops& ops, const at::Tensor& x, const Addend& y,
                           const Modulation& modulation, const RowNeeds& needs);
// gelu_tanh(x W^T + b). With the room where the variant leaves it.
Rows LinearGelu(const Ops& ops, const at::Tensor& x, const at::Tensor& weight,
                const at::Tensor& bias, int64_t room);
// The same of x in the form kE4m3Gelu.
Rows LinearGelu(const Ops& ops, const at::Tensor& x, const E4m3Gelu& weight,
                const at::Tensor& bias);
// x * 2 sigmoid(logit), a logit for each head of a row.
Rows HeadGate(const Ops& ops, const at::Tensor& x, const at::Tensor& logits, const RowNeeds& needs);
Rows GeluTanh(const Ops& ops, const at::Tensor& x, const RowNeeds& needs);

}  // namespace reel::model
