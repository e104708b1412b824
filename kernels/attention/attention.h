// SPDX-License-Identifier: Apache-2.0
// Attention over all keys, over the few of a prompt, and over further keys of one already computed.
//
//   attention        out = softmax(scale * q_scale * q k^T + bias) v, over L keys
//   cross_attention  the same for a prompt's few keys: 1 <= L <= 128, heads of 64 or 128
//   attention_rest   1 <= L <= 128 further keys, with `before` the output over the others and s the
//                    logarithm of its sum:
//                    out = (e^s before + sum_l e^(scale q k_l) v_l) / (e^s + sum_l e^(scale q k_l))
//
// The softmax in fp32 or wider, one rounding at the end. A query without any key (key_lengths 0, or
// a bias of minus infinity for all) gives a row of zeros.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct AttentionOperands {
  typename T::In q;                      // [B, S, N, Dh]
  typename T::In k;                      // [B, L, N, Dh]
  typename T::In v;                      // [B, L, N, Dh]
  typename T::MaybeIn bias = {};         // [1 or B, 1 or N, 1 or S, L], q's dtype or fp32
  typename T::MaybeIn key_lengths = {};  // int32 [B]: number of keys that count
  typename T::MaybeIn q_scale = {};      // fp32 [B, S]: factor for each query's scores
  typename T::Out out;                   // like q; overlaps nothing
  double scale = 0;                      // 0: 1 / sqrt(Dh)
  // uint8 of at least AttentionScratchBytes. Setting it allows 8 bits, so that sm90_e4m3 or
  // sm90_int8 may take the call, which need it. Its contents afterwards are undefined.
  typename T::MaybeOut scratch = {};
  bool int8_scores = false;  // q and k in int8: more accurate than e4m3, and slower
  // Allows sm90_routed, which needs it and a scratch of RoutedScratchBytes: each block of queries
  // takes this share of the tiles of 128 keys and the mean of each other tile. 0: all keys; at
  // most 1.
  double exact_share = 0;

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"q"}, calls.q...);
    see(Operand{"k"}, calls.k...);
    see(Operand{"v"}, calls.v...);
    see(Operand{"bias"}, calls.bias...);
    see(Operand{"key_lengths"}, calls.key_lengths...);
    see(Operand{"q_scale"}, calls.q_scale...);
    see(Output("out"), calls.out...);
    see(Option("scale"), calls.scale...);
    see(Unlisted("scratch"), calls.scratch...);
    see(Unlisted("int8_scores"), calls.int8_scores...);
    see(Unlisted("exact_share"), calls.exact_share...);
  }
};
using AttentionArgs = AttentionOperands<Views>;

template <typename T>
struct AttentionRestOperands {
  typename T::In q;         // [B, S, N, Dh]
  typename T::In k;         // [B, L, N, Dh]
  typename T::In v;         // [B, L, N, Dh]
  typename T::In before;    // like q
  typename T::In log_sums;  // fp32 [B, S, N]; minus infinity: no key so far
  typename T::Out out;      // like q; may be `before`, overlaps nothing else
  double scale = 0;         // 0: 1 / sqrt(Dh)

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"q"}, calls.q...);
    see(Operand{"k"}, calls.k...);
    see(Operand{"v"}, calls.v...);
    see(Operand{"before"}, calls.before...);
    see(Operand{"log_sums"}, calls.log_sums...);
    see(Output("out"), calls.out...);
    see(Option("scale"), calls.scale...);
  }
};
using AttentionRestArgs = AttentionRestOperands<Views>;

// Statuses as in RmsNorm; also INVALID_ARGUMENT for sizes that do not match.
absl::Status Attention(const AttentionArgs& args, const Execution& run);
// Also FAILED_PRECONDITION for more keys or other heads: call Attention.
absl::Status CrossAttention(const AttentionArgs& args, const Execution& run);
absl::Status AttentionRest(const AttentionRestArgs& args, const Execution& run);

// The scratch for a call with such keys [B, L, N, Dh].
int64_t AttentionScratchBytes(const TensorView& k);
// The same with an exact_share.
int64_t RoutedScratchBytes(const TensorView& q, const TensorView& k, double exact_share);

// Whether CrossAttention and AttentionRest take this number of keys and heads of this width.
bool FitsCrossAttention(int64_t keys, int64_t width);

OpVariants AttentionCpuVariants();
OpVariants CrossAttentionCpuVariants();
OpVariants AttentionRestCpuVariants();

}  // namespace reel::kernels
