// SPDX-License-Identifier: Apache-2.0
// Copies from page-locked host memory on a stream of their own. A function of
// libreel_torch_cuda.so.
#pragma once

#include <cstddef>

#include "model/bridge/copy_lane.h"

namespace reel::model {

// The caller owns the result.
using CopyLaneEntry = CopyLane* (*)(int device, size_t slots);
inline constexpr char kCopyLaneEntry[] = "reel_copy_lane";

}  // namespace reel::model
