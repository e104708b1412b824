// SPDX-License-Identifier: Apache-2.0
// The tiny models of tests/golden/ltx2_sound, and how near ours come to what they make.
#pragma once

#include <string>

#include "model/ltx2/audio_vae.h"
#include "model/ltx2/vocoder.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {

// Of "audio_vae", "vocoder" or "vocoder_extended".
std::string SoundFolder(const std::string& name);
nlohmann::json SoundConfig(const std::string& name);
WeightSet SoundWeights(const std::string& name);

absl::StatusOr<Vocoder> LoadVocoder(const std::string& name);
absl::StatusOr<AudioVae> LoadAudioVae(at::ScalarType dtype);

// The error's power against that of what is expected, as roots; 1 for other sizes.
double RelativeError(const at::Tensor& actual, const at::Tensor& expected);

}  // namespace reel::model::ltx2
