// SPDX-License-Identifier: Apache-2.0
// Classifier-free guidance.
#pragma once

#include "model/bridge/aten.h"

namespace reel::model::ltx {

// `velocities` [2, S, C], negative first, to [1, S, C], in their own type: away from the negative
// by `scale`. `rescale` > 0 brings the deviation back towards that of the positive.
at::Tensor Guide(const at::Tensor& velocities, double scale, double rescale);

}  // namespace reel::model::ltx
