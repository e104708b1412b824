// SPDX-License-Identifier: Apache-2.0
// A sink that takes all frames of a video as they come.
#pragma once

#include <cstddef>
#include <vector>

#include "model/frame_sink.h"

namespace reel::model {

class AllFrames : public FrameSink {
 public:
  FrameFormat format() const override { return FrameFormat::kI420; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const FramesView& view) override {
    width = view.width;
    height = view.height;
    num_frames += view.num_frames;
    bytes.insert(bytes.end(), view.data.begin(), view.data.end());
    return absl::OkStatus();
  }
  int width = 0, height = 0, num_frames = 0;
  std::vector<std::byte> bytes;
};

}  // namespace reel::model
