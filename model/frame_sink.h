// SPDX-License-Identifier: Apache-2.0
// The receiver of a model's frames and sound: the encoder, a file, a test. A sink never blocks the
// engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace reel::model {

// kI420: planes Y, U, V of each frame in turn, BT.709 limited range. kRgb8, kRgbF32 (0..1): [H, W,
// 3] of each frame.
enum class FrameFormat { kI420, kRgb8, kRgbF32 };

// Whole frames, densely packed, one after the other. Borrowed for the call.
struct FramesView {
  FrameFormat format = FrameFormat::kI420;
  int width = 0;
  int height = 0;
  int num_frames = 0;
  absl::Span<const std::byte> data;
};

// Bytes of one frame.
constexpr int64_t FrameBytes(FrameFormat format, int width, int height) {
  const int64_t pixels = int64_t{width} * height;
  switch (format) {
    case FrameFormat::kI420:
      return pixels + 2 * (int64_t{(width + 1) / 2} * ((height + 1) / 2));
    case FrameFormat::kRgb8:
      return pixels * 3;
    case FrameFormat::kRgbF32:
      return pixels * 3 * 4;
  }
  return 0;
}

// The format of sound; a rate of 0: no sound.
struct SoundFormat {
  int sample_rate = 0;  // in Hz
  int channels = 0;

  bool exists() const { return sample_rate > 0; }
  friend bool operator==(const SoundFormat&, const SoundFormat&) = default;
};

// Samples in -1..1, interleaved: left, right, left, right. Borrowed for the call.
struct SamplesView {
  SoundFormat format;
  absl::Span<const float> interleaved;
  bool is_last = true;  // this is the last part
};

// A frame is pushed after the samples up to its end and this many more per channel, or after the
// last part: files carry sound ahead of pictures.
inline constexpr int64_t kSoundAhead = 4 * 1024;

struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  // [H, W, 3]
};

class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual FrameFormat format() const = 0;
  // False: the sink is full; try again after other work.
  virtual bool HasRoom() const = 0;
  // Copies. An error is the sink's own (its encoder, its file) and ends the job.
  virtual absl::Status Push(const FramesView& frames) = 0;
  // False: the model makes no sound, and PushSamples is not called.
  virtual bool TakesSound() const { return false; }
  // Takes a copy of the next part of the video's sound; the first part precedes the first frame.
  // Sound that is shorter than the pictures is padded with silence, longer sound is cut.
  virtual absl::Status PushSamples(const SamplesView& samples) {
    (void)samples;
    return absl::UnimplementedError("This sink takes no sound");
  }
};

}  // namespace reel::model
