// SPDX-License-Identifier: Apache-2.0
// Attention, on the terms of Ops: over the tokens of a video, over the keys of a prompt, and over
// keys that a variant has left.
#pragma once

#include "model/bridge/ops.h"

namespace reel::model {

// Which keys of a prompt count, said twice where it can be: libtorch's variants take the bias,
// those of kernels/ the lengths.
struct KeyMask {
  at::Tensor bias;     // added to the scores; undefined: all count
  at::Tensor lengths;  // int32 [B]: so many from the first on; undefined where there are gaps
};

// q [B, S, N, Dh], k and v [B, L, N, Dh]; `bias` [1 or B, 1 or N, 1 or S, L] or undefined is added
// to the scores. scale 0: 1/sqrt(Dh). In 8 bits where the profile asks for it.
at::Tensor Attention(const Ops& ops, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& bias, double scale);
// The same, but never in 8 bits.
at::Tensor AttentionNotIn8Bits(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v, const at::Tensor& bias, double scale);
// The same for the keys of a prompt: an operator of its own, cross_attention, up to 128 keys and
// heads of 64 or 128, else as Attention.
at::Tensor CrossAttention(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const KeyMask& mask, double scale);

// What an attention has found: its result, and the logarithms of the sums of its keys, fp32
// [B, S, N].
struct Attended {
  const at::Tensor& out;
  const at::Tensor& log_sums;
};
// With further keys: at most 128, heads of 64 or 128.
at::Tensor AttentionRest(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v, const Attended& before, double scale);

}  // namespace reel::model
