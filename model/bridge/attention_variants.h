// SPDX-License-Identifier: Apache-2.0
// libtorch's kernels for scaled dot product attention by name (framework_variants.h), each called
// for itself: no switch of the process decides among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model::aten {

// q [B, N, S, Dh], k and v [B, N, L, Dh]; `bias` [1 or B, 1 or N, 1 or S, L] or undefined; scale 0
// is 1/sqrt(Dh).
struct AttentionCall {
  const at::Tensor& q;
  const at::Tensor& k;
  const at::Tensor& v;
  const at::Tensor& bias;
  double scale;
};

// libtorch's own choice.
at::Tensor Attention(const AttentionCall& call);
// The name of what it chooses; "aten" when it will not say.
std::string_view AttentionChoice(const AttentionCall& call);

// Empty when the variant can take the call.
std::string WhyNotAttention(std::string_view variant, const AttentionCall& call);
// A variant that can.
at::Tensor AttentionBy(std::string_view variant, const AttentionCall& call);

}  // namespace reel::model::aten
