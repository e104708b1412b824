// SPDX-License-Identifier: Apache-2.0
// A norm and the linear layer behind it as one product: the normed rows are never written.
//
//   prepare_norm_linear, once for a layer W [O,D], b [O] behind a norm with weight w and bias beta:
//     W' = round( W diag(w) )     s_o = sum_d W'_od     b' = b + W beta
//   norm_linear, each call:
//     rms norm:    out = round( rstd * (x W'^T) + b' )
//     layer norm:  out = round( rstd * (x W'^T - mean * s) + b' )     with the biased variance
//
// Sums in fp32, in an order that depends on D only. If a row's mean is r deviations from zero, the
// subtraction in the layer norm's form cancels. The error is then about 1 + r times that of a norm
// before the product. That is unnoticeable up to r = 4; for rows of r = 100 use layer_norm and a
// product. A product beyond fp32's range makes the output infinite or NaN. A NaN or an infinity
// makes its whole row NaN.
//
// A modulation (1 + scale) cannot be folded into W, since it changes with every step: use adaln_*.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// A layer with its norm folded in: a value, whose memory belongs to the caller. A layer behind an
// rms norm without weight is one as it is: its W and b.
struct NormLinearWeight {
  TensorView weight;               // W' [O,D]
  std::optional<TensorView> bias;  // b' [O]
  std::optional<TensorView> sums;  // s, fp32 [O]: where it is there the norm is a layer norm
};

struct PrepareNormLinearArgs {
  TensorView weight;                      // W [O,D]
  std::optional<TensorView> norm_weight;  // w [D]; absent: 1
  std::optional<TensorView> bias;         // b [O]
  std::optional<TensorView> norm_bias;    // beta [D]
  // Written: `weight` of W's dtype, which may be W; `bias` fp32, needed where there is a b or a
  // beta; `sums` where a layer norm is meant.
  NormLinearWeight prepared;
};

struct NormLinearArgs {
  TensorView x;             // [..., D], rank 1 to 5
  NormLinearWeight linear;  // `weight` of x's dtype, `bias` of it or fp32
  TensorView out;           // [..., O] of x's dtype
  double eps = 1e-6;        // inside the root
};

// Statuses as in RmsNorm. Nothing is allocated.
absl::Status PrepareNormLinear(const PrepareNormLinearArgs& args, const Execution& run);
absl::Status NormLinear(const NormLinearArgs& args, const Execution& run);

OpVariants PrepareNormLinearCpuVariants();
OpVariants NormLinearCpuVariants();

}  // namespace reel::kernels
