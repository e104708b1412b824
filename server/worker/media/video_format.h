// SPDX-License-Identifier: Apache-2.0
// Sizes and encoding effort of a video and its sound, free of libav.
#pragma once

#include <optional>
#include <string>

#include "model/frame_sink.h"

namespace reel::worker {

struct VideoFormat {
  int width = 0;  // even
  int height = 0;
  double frame_rate = 24;
  int crf = 18;                         // 0..51
  std::string preset = "veryfast";      // x264's name for it
  model::SoundFormat sound = {};        // absent: the file has no sound track
  int num_frames = 0;                   // of all pictures: sound ends there
  std::optional<double> loudness = {};  // LUFS that the sound is brought to; unset: as it is
};

}  // namespace reel::worker
