// SPDX-License-Identifier: Apache-2.0
// The configuration of LTX-2's vocoders: one generator of a wave, or two with the second making the
// high frequencies that the first lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// From a spectrum to a wave.
struct GeneratorConfig {
  struct Upsampling {
    int64_t kernel = 0, factor = 0;
  };
  // Residual blocks one behind the other, a block a dilation.
  struct Stack {
    int64_t kernel = 0;
    std::vector<int64_t> dilations;
  };
  enum class Activation { kLeakyRelu, kSnake };
  enum class End { kNone, kTanh, kClamp };

  int64_t in_channels = 128;  // channels of the sound times bins
  int64_t hidden_channels = 1024;
  int64_t out_channels = 2;
  std::vector<Upsampling> upsamplings;  // each halves the channels
  std::vector<Stack> stacks;            // behind each upsampling, side by side; their mean counts
  Activation activation = Activation::kLeakyRelu;
  double negative_slope = 0.1;
  End end = End::kTanh;
  bool final_bias = true;

  int64_t SamplesPerFrame() const;
};

// The second generator, and the spectrum that it takes of the first one's wave.
struct ExtensionConfig {
  GeneratorConfig generator;
  int64_t filter_length = 512, hop_length = 80;  // samples of the first wave
  int64_t num_bins = 64;
  int64_t ratio = 3;  // of the second wave's rate to the first one's
};

struct VocoderConfig {
  GeneratorConfig generator;
  int64_t generator_rate = 24000;  // Hz, of the first wave
  std::optional<ExtensionConfig> extension;

  int64_t SampleRate() const;
  int64_t SamplesPerFrame() const;
};

// Of LTX2Vocoder or LTX2VocoderWithBWE, by `_class_name`; keys that are missing take that class's
// defaults. FAILED_PRECONDITION names the key that is not known or not supported.
absl::StatusOr<VocoderConfig> ReadVocoderConfig(const nlohmann::json& json,
                                                const std::string& source);

}  // namespace reel::model::ltx2
