// SPDX-License-Identifier: Apache-2.0
// Attention as a model calls it, which is what libtorch's variants of it take.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "model/bridge/call_operands.h"

namespace reel::model::aten {

// What libtorch takes of the operands: [B, N, S, Dh] and [B, N, L, Dh], the same memory.
struct Heads {
  at::Tensor q, k, v;
};

struct AttentionCall : kernels::AttentionOperands<Tensors> {
  const Heads& heads;
  // Where it is given, a variant may leave the last keys, at most 128, to attention_rest, and says
  // what it has met.
  struct KeysMet {
    int64_t count = 0;    // 0: all
    at::Tensor log_sums;  // the logarithms of their sums, fp32 [B, S, N]
  };
  KeysMet* met = nullptr;
};

}  // namespace reel::model::aten
