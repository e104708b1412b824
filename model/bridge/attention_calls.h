// SPDX-License-Identifier: Apache-2.0
// Attention as a model calls it, which is what libtorch's variants of it take.
#pragma once

#include <string_view>

#include "model/bridge/aten.h"

namespace reel::model::aten {

// q [B, N, S, Dh], k and v [B, N, L, Dh]; `bias` [1 or B, 1 or N, 1 or S, L] or undefined; scale 0
// is 1/sqrt(Dh).
struct AttentionCall {
  std::string_view op;  // attention or cross_attention
  const at::Tensor& x;  // q
  const at::Tensor& k;
  const at::Tensor& v;
  const at::Tensor& bias;
  double scale;
  at::Tensor& out;
  // Where it is given, a variant may leave the last keys, at most 128, to attention_rest, and says
  // what it has met.
  struct KeysMet {
    int64_t count = 0;    // 0: all
    at::Tensor log_sums;  // the logarithms of their sums, fp32 [B, N, S]
  };
  KeysMet* met = nullptr;
};

// Further keys for queries whose output so far is `before` [B, N, S, Dh], of keys whose sums have
// these logarithms, fp32 [B, N, S].
struct AttentionRestCall {
  static constexpr std::string_view op = "attention_rest";
  const at::Tensor& x;  // q
  const at::Tensor& k;
  const at::Tensor& v;
  const at::Tensor& before;
  const at::Tensor& log_sums;
  double scale;
  at::Tensor& out;
};

}  // namespace reel::model::aten
