// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/hum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "model/own_sound.h"
#include "model/refinement.h"

namespace reel::model {
namespace {

constexpr double kHertz = 440, kBeepHertz = 880;
constexpr double kLoudness = 0.25;
constexpr double kBeepSeconds = 0.05;

double SampleAt(double second) {
  const bool beeps = second - std::floor(second) < kBeepSeconds;
  const double hertz = beeps ? kBeepHertz : kHertz;
  return (beeps ? 2 : 1) * kLoudness * std::sin(2 * std::numbers::pi * hertz * second);
}

}  // namespace

std::vector<float> Hum(double seconds) {
  const auto count = static_cast<size_t>(std::ceil(seconds * kHumFormat.sample_rate));
  std::vector<float> samples;
  samples.reserve(count * static_cast<size_t>(kHumFormat.channels));
  for (size_t i = 0; i < count; ++i) {
    const auto sample =
        static_cast<float>(SampleAt(static_cast<double>(i) / kHumFormat.sample_rate));
    samples.insert(samples.end(), static_cast<size_t>(kHumFormat.channels), sample);
  }
  return samples;
}

std::vector<float> SoundOf(const GenerationSpec& resolved) {
  std::vector<float> samples = Hum(resolved.num_frames / resolved.frame_rate);
  const Condition* const refined = RefinedClipOf(resolved);
  if (refined != nullptr && refined->carried_sound != nullptr) {
    return refined->carried_sound->interleaved;
  }
  const Condition* const own = OwnSoundOf(resolved);
  if (own == nullptr || own->sound == nullptr) return samples;
  const std::vector<float>& brought = own->sound->interleaved;
  std::copy_n(brought.begin(), std::min(brought.size(), samples.size()), samples.begin());
  return samples;
}

}  // namespace reel::model
