// SPDX-License-Identifier: Apache-2.0
// libtorch's kernels for scaled dot product attention by name (framework_variants.h), each called
// for itself: no switch of the process decides among them.
#pragma once

#include <string>
#include <string_view>

#include "model/bridge/framework_calls.h"

namespace reel::model::aten {

// The name of what libtorch would choose; "aten" when it will not say.
std::string_view AttentionChoice(const AttentionCall& call);
// Of a call that cudnn_tiles can take.
bool IsFasterInTiles(const AttentionCall& call);

// Empty when the variant can take the call.
std::string_view WhyNotAttention(std::string_view variant, const AttentionCall& call);
// A variant that can.
void RunAttention(std::string_view variant, const AttentionCall& call);

}  // namespace reel::model::aten
