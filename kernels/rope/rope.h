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
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct Rope1dArgs {
  TensorView q, q_out;                    // [B,S,Nq,Dh]; q_out may be q
  std::optional<TensorView> k, k_out;     // [B,Sk,Nk,Dh], both or none; k_out may be k
  std::optional<TensorView> positions;    // int32 or int64 [S] or [B,S]; else 0, 1, ... S-1
  std::optional<TensorView> k_positions;  // [Sk] or [B,Sk]; else those of q, and Sk = S
  int64_t offset = 0;                     // added to every position; may be negative
  std::optional<int64_t> rotary_dim;      // even, <= Dh; the rest is copied; else Dh
  bool interleaved = true;                // pairs (2i, 2i+1), else (i, i + rotary_dim/2)
  double theta = 10000;
  // With it x * rsqrt(mean(x^2) + norm_eps) * weight over a head comes first, also of what is only
  // copied.
  std::optional<double> norm_eps;
  std::optional<TensorView> q_weight, k_weight;  // [Dh], with norm_eps alone
};

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
