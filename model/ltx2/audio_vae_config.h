// SPDX-License-Identifier: Apache-2.0
// The configuration of LTX-2's audio autoencoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

struct AudioVaeConfig {
  // A latent stands for four frames of a spectrum, and for four bins: two doublings between three
  // levels.
  static constexpr int64_t kCompression = 4;

  int64_t base_channels = 128;
  std::vector<int64_t> multiples = {1, 2, 4};  // of base_channels, of each level
  int64_t layers = 2;                          // residual blocks a level; the decoder has one more
  int64_t channels = 2;                        // of the sound
  int64_t latent_channels = 8;
  int64_t bins = 64;            // of the spectrum
  int64_t sample_rate = 16000;  // Hz, of the sound that spectra are made of
  int64_t hop_length = 160;     // its samples a frame of the spectrum

  int64_t LatentBins() const { return bins / kCompression; }
  // What the transformer has for each latent frame.
  int64_t TokenChannels() const { return latent_channels * LatentBins(); }
  // Each latent but the first stands for four frames: the decoder drops what lies before it.
  static int64_t Frames(int64_t latents) { return kCompression * (latents - 1) + 1; }
};

// Keys that are missing take the class's defaults. FAILED_PRECONDITION names the key that is not
// known or not supported.
absl::StatusOr<AudioVaeConfig> ReadAudioVaeConfig(const nlohmann::json& json,
                                                  const std::string& source);

}  // namespace reel::model::ltx2
