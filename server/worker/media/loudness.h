// SPDX-License-Identifier: Apache-2.0
// Measures sound as broadcasters do: loudness by EBU R 128 (ITU-R BS.1770-4), true peak, silence
// and clipped samples. Pure functions of the samples.
//
// Note: [Own measure]. libavfilter's ebur128 does the same, but brings 32 more libraries, and a
// worker's libav has no libavfilter. loudness_test compares this one with that of the ffmpeg
// command.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "model/frame_sink.h"
#include "model/run_stats.h"

namespace reel::worker {

// Of one or two channels. A sound shorter than 0.4 s has no loudness, and neither has silence.
model::SoundStats MeasureSound(const model::SoundFormat& format,
                               absl::Span<const float> interleaved);

struct LevelChange {
  float gain = 1;
  bool is_limited = false;  // by the true peak
};

// The factor that brings a sound to this loudness. Smaller if the true peak would exceed -1 dBTP,
// the most that EBU R 128 allows; 1 for a sound without loudness.
LevelChange ChangeTo(double lufs, const model::SoundStats& measured);

}  // namespace reel::worker
