// SPDX-License-Identifier: Apache-2.0
// Size, rate and number of an MP4's pictures, as its head says them.
#pragma once

#include <cstdint>
#include <string_view>

#include "reel/v1/video.pb.h"

namespace reel::client {

struct ClipShape {
  int width = 0, height = 0;  // pixels, as it is shown
  double frame_rate = 0;
  int64_t frames = 0;
};

// Of the first video track, in a file with or without fragments. Any bytes are safe; what they do
// not tell is 0.
ClipShape ShapeOfClip(std::string_view file);

// Fills what the request leaves out, for a clip that is refined: twice its size as far as that is
// common, its rate, and its length in whole latents.
void FillFromClip(const ClipShape& clip, v1::VideoSpec& spec);

}  // namespace reel::client
