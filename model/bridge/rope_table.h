// SPDX-License-Identifier: Apache-2.0
// The angles of a rotary embedding, made once per request.
#pragma once

#include "model/bridge/aten.h"

namespace reel::model {

// cos and sin of each channel's angle, [B or 1, S, D] fp32.
struct RopeTable {
  at::Tensor cos, sin;
};

}  // namespace reel::model
