// SPDX-License-Identifier: Apache-2.0
// A sink that keeps all frames.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"
#include "model/frame_sink.h"

namespace reel::model {

class CollectingSink : public FrameSink {
 public:
  explicit CollectingSink(FrameFormat format = FrameFormat::kRgbF32) : format_(format) {}
  FrameFormat format() const override { return format_; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const FramesView& frames) override {
    width = frames.width;
    height = frames.height;
    most = std::max(most, frames.num_frames);
    num_frames += frames.num_frames;
    const auto* bytes = reinterpret_cast<const uint8_t*>(frames.data.data());
    data.insert(data.end(), bytes, bytes + frames.data.size());
    return absl::OkStatus();
  }
  bool TakesSound() const override { return takes_sound; }
  absl::Status PushSamples(const SamplesView& samples) override {
    if (frames_before_sound < 0) frames_before_sound = num_frames;
    sound_is_whole = samples.is_last;
    sound.insert(sound.end(), samples.interleaved.begin(), samples.interleaved.end());
    return absl::OkStatus();
  }
  // As floats.
  at::Tensor Values() const {
    const at::Tensor values = at::empty({static_cast<int64_t>(data.size() / 4)}, at::kFloat);
    std::copy(data.begin(), data.end(), static_cast<uint8_t*>(values.data_ptr()));
    return values;
  }

  int width = 0, height = 0;     // of the last piece
  int most = 0, num_frames = 0;  // in one piece, and in all
  std::vector<uint8_t> data;
  bool takes_sound = false;
  std::vector<float> sound;
  int frames_before_sound = -1;
  bool sound_is_whole = false;

 private:
  const FrameFormat format_;
};

}  // namespace reel::model
