// SPDX-License-Identifier: Apache-2.0
// LTX-Video's rotary embedding, over the full width before the heads are split, and the norm of q
// and k that comes before it.
//   ltx_rope      pairs (2i, 2i+1) of q and k, rotated by a table
//   qk_norm_rope  round( turn( x * rsqrt(mean(x^2) + eps) * weight ) ), nothing rounded in between
//
// The norm of each head before a rotation by position, as Qwen3 has it, is rope_1d's norm_eps.
//
// The first D % 6 channels are not rotated. Then angle (k, axis), k slow and axis (t, y, x) fast,
// serves two channels each: there are K = D / 6 frequencies.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// One of two forms. Factored, a few KB for a whole clip (made by MakeLtxRopeTable):
//   cos_sin fp32 [R,K,2], contiguous: a row for each distinct coordinate of an axis
//   index   int32 [1,S,3] or [B,S,3]: the rows of a token's t, y and x, each below R (device data,
//           which is not checked)
// Dense, what diffusers passes: cos and sin, fp32 [1,S,D] or [B,S,D].
struct LtxRopeTableView {
  std::optional<TensorView> cos_sin, index;
  std::optional<TensorView> cos, sin;
};

struct LtxRopeArgs {
  TensorView q, q_out;                 // [B,S,D] or [B,S,N,Dh], D even; q_out may be q
  std::optional<TensorView> k, k_out;  // like q: self-attention only; k_out may be k
  LtxRopeTableView table;
};

struct QkNormRopeArgs {
  TensorView q, q_out;
  std::optional<TensorView> k, k_out;
  std::optional<TensorView> q_weight, k_weight;  // [D]
  std::optional<LtxRopeTableView> table;         // absent: the norm alone
  double eps = 1e-5;
};

// Statuses as in RmsNorm.
absl::Status LtxRope(const LtxRopeArgs& args, const Execution& run);
absl::Status QkNormRope(const QkNormRopeArgs& args, const Execution& run);

OpVariants LtxRopeCpuVariants();
OpVariants QkNormRopeCpuVariants();

}  // namespace reel::kernels
