// SPDX-License-Identifier: Apache-2.0
// conv3d=taps, on a CPU: a convolution over time is the sum of one in the picture for each frame
// that it looks at, with all frames as a batch. oneDNN adds each to what is there, has the weights
// laid out for it once, and takes frames whose channels lie side by side as they are.
#pragma once

#include <string>

#include "model/bridge/conv3d_call.h"

namespace reel::model::aten {

// Copies of a weight [C', C, kf, kh, kw] in oneDNN's layout, one for each tap. None if this variant
// does not take the weight: another device or type, no oneDNN, or too large for a copy to pay.
FrameTaps TapsOf(const at::Tensor& weight);

void RunByTaps(const Conv3dCall& call);
std::string_view WhyNotByTaps(const Conv3dCall& call);

}  // namespace reel::model::aten
