// SPDX-License-Identifier: Apache-2.0
// Sizes and encoding effort of a video, free of libav.
#pragma once

#include <string>

namespace reel::worker {

struct VideoFormat {
  int width = 0;  // even
  int height = 0;
  double frame_rate = 24;
  int crf = 18;                     // 0..51
  std::string preset = "veryfast";  // x264's name for it
};

}  // namespace reel::worker
