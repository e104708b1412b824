// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings by position: a pair of channels (a, b) becomes (a cos - b sin, b cos + a sin).
// Angles are computed in fp64, once for all heads, and rounded to fp32; one rounding of each
// output.
//   rope_1d  angle of pair i: position * theta^(-2i / rotary_dim); if asked for after the rms norm
//            of each head, as Qwen3 has it, with nothing rounded in between
//   rope_3d  tokens of a grid (t*H + h)*W + w; each axis turns its own section of the channels
// Neither is what LTX-Video uses: that is ltx_rope.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct Rope1dOperands {
  typename T::In q;                        // [B,S,Nq,Dh]
  typename T::Out q_out;                   // may be q
  typename T::MaybeIn k = {};              // [B,Sk,Nk,Dh], with k_out or not at all
  typename T::MaybeOut k_out = {};         // may be k
  typename T::MaybeIn positions = {};      // int32 or int64 [S] or [B,S]; else 0, 1, ... S-1
  typename T::MaybeIn k_positions = {};    // [Sk] or [B,Sk]; else those of q, and Sk = S
  int64_t offset = 0;                      // added to every position; may be negative
  std::optional<int64_t> rotary_dim = {};  // even, <= Dh; the rest is copied; else Dh
  bool interleaved = true;                 // pairs (2i, 2i+1), else (i, i + rotary_dim/2)
  double theta = 10000;
  // With it x * rsqrt(mean(x^2) + norm_eps) * weight over a head comes first, also of what is only
  // copied.
  std::optional<double> norm_eps = {};
  typename T::MaybeIn q_weight = {}, k_weight = {};  // [Dh], with norm_eps alone

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"q"}, calls.q...);
    see(Output("q_out"), calls.q_out...);
    see(Operand{"k"}, calls.k...);
    see(Output("k_out"), calls.k_out...);
    see(Operand{"positions"}, calls.positions...);
    see(Operand{"k_positions"}, calls.k_positions...);
    see(Option("offset"), calls.offset...);
    see(Option("rotary_dim"), calls.rotary_dim...);
    see(Option("interleaved"), calls.interleaved...);
    see(Option("theta"), calls.theta...);
    see(Option("norm_eps"), calls.norm_eps...);
    see(Operand{"q_weight"}, calls.q_weight...);
    see(Operand{"k_weight"}, calls.k_weight...);
  }
};
using Rope1dArgs = Rope1dOperands<Views>;

struct Rope3dArgs {
  TensorView q, q_out;                 // [B,T*H*W,N,Dh]; q_out may be q
  std::optional<TensorView> k, k_out;  // the same tokens, any number of heads
  int64_t frames = 0, height = 0, width = 0;
  // Channels per axis (t, h, w): even, not below 0, Dh together; a width of 0 does not turn. Else
  // t and h get a third of the pairs each, rounded down, and w the rest.
  std::optional<std::array<int64_t, 3>> split;
  std::array<double, 3> theta = {10000, 10000, 10000};
};

// Statuses as in RmsNorm. Also INVALID_ARGUMENT for theta <= 0, a grid that is not S, a bad split
// or rotary_dim, k of another length without positions, and weights without norm_eps.
absl::Status Rope1d(const Rope1dArgs& args, const Execution& run);
absl::Status Rope3d(const Rope3dArgs& args, const Execution& run);

OpVariants Rope1dCpuVariants();
OpVariants Rope3dCpuVariants();

}  // namespace reel::kernels
