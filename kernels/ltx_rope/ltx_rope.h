// SPDX-License-Identifier: Apache-2.0
// The rotary embedding of LTX-Video and LTX-2, over the full width before the heads are split, and
// the norm of q and k that comes before it.
//   ltx_rope      pairs of channels of q and k, rotated by a table
//   qk_norm_rope  round( turn( x * rsqrt(mean(x^2) + eps) * weight ) ), nothing rounded in between
//
// The norm of each head before a rotation by position, as Qwen3 has it, is rope_1d's norm_eps.
//
// The D / 2 pairs are neighbours (2i, 2i+1) or, where heads are split, channels c and c + half of
// each head, in the order of first channels. The first pairs are not rotated. Then each angle (k,
// axis), k slow and axis fast, serves one pair. A axes (t, y, x; or t alone) have K = D / 2 / A
// frequencies.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// One of two forms. Factored, a few KB for a whole clip (made by MakeLtxRopeTable):
//   cos_sin fp32 [R,K,2], contiguous: a row for each distinct coordinate of an axis
//   index   int32 [1,S,A] or [B,S,A], A 3 or 1: the rows of a token's axes, each below R (device
//           data, which is not checked)
// Dense, what diffusers passes for pairs of neighbours: cos and sin, fp32 [1,S,D] or [B,S,D].
template <typename T>
struct LtxRopeTableOperands {
  typename T::MaybeIn cos_sin = {}, index = {};
  typename T::MaybeIn cos = {}, sin = {};
  int64_t split_head = 0;  // channels of a head that is split into halves; 0: pairs of neighbours

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"cos_sin"}, calls.cos_sin...);
    see(Operand{"index"}, calls.index...);
    see(Operand{"cos"}, calls.cos...);
    see(Operand{"sin"}, calls.sin...);
    see(Unlisted("split_head"), calls.split_head...);
  }
};
using LtxRopeTableView = LtxRopeTableOperands<Views>;

struct LtxRopeArgs {
  TensorView q, q_out;                 // [B,S,D] or [B,S,N,Dh], D even; q_out may be q
  std::optional<TensorView> k, k_out;  // like q: self-attention only; k_out may be k
  LtxRopeTableView table;
};

template <typename T>
struct QkNormRopeOperands {
  typename T::In q;
  typename T::Out q_out;
  typename T::MaybeIn k = {};
  typename T::MaybeOut k_out = {};
  typename T::MaybeIn q_weight = {}, k_weight = {};   // [D]
  std::optional<LtxRopeTableOperands<T>> table = {};  // absent: the norm alone
  double eps = 1e-5;

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"q"}, calls.q...);
    see(Output("q_out"), calls.q_out...);
    see(Operand{"k"}, calls.k...);
    see(Output("k_out"), calls.k_out...);
    see(Operand{"q_weight"}, calls.q_weight...);
    see(Operand{"k_weight"}, calls.k_weight...);
    see(Operand{"table"}, calls.table...);
    see(Option("eps"), calls.eps...);
  }
};
using QkNormRopeArgs = QkNormRopeOperands<Views>;

// Statuses as in RmsNorm.
absl::Status LtxRope(const LtxRopeArgs& args, const Execution& run);
absl::Status QkNormRope(const QkNormRopeArgs& args, const Execution& run);

OpVariants LtxRopeCpuVariants();
OpVariants QkNormRopeCpuVariants();

}  // namespace reel::kernels
