// SPDX-License-Identifier: Apache-2.0
// Makes the test card's sound: 440 Hz, and for 50 ms from each whole second 880 Hz, twice as loud.
// So a program can tell which second it hears.
#pragma once

#include <vector>

#include "model/frame_sink.h"
#include "model/generation_spec.h"

namespace reel::model {

inline constexpr SoundFormat kHumFormat = {.sample_rate = 48'000, .channels = 2};

// So many seconds, one channel after the other.
std::vector<float> Hum(double seconds);

// That of a resolved request: the sound that it brings, and the hum behind it.
std::vector<float> SoundOf(const GenerationSpec& resolved);

}  // namespace reel::model
