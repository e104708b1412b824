// SPDX-License-Identifier: Apache-2.0
// The frames of a decode behind the first so many.
#pragma once

#include <cstdint>

#include "model/frames/frame_source.h"

namespace reel::model {

// `source`, the end of a chain, has more than `count` frames.
FrameSourcePtr WithoutFirst(int64_t count, FrameSourcePtr source);

}  // namespace reel::model
