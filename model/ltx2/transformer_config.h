// SPDX-License-Identifier: Apache-2.0
// Sizes and features of LTX-2's transformer, as its configuration says them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// Which generation of the models a checkpoint is.
enum class Version { k2_0, k2_3, k2_5 };

// How channels are turned by a token's place.
enum class Rotation {
  kInterleaved,  // neighbouring channels, over the full width
  kSplit,        // in each head channel j with channel j + half
};

// One of the two streams. Defaults are the video's.
struct StreamConfig {
  int64_t channels = 128;  // of a token's latents
  int64_t num_heads = 32;
  int64_t head_dim = 128;
  double seconds = 20;     // the time that positions are a fraction of
  bool has_gates = false;  // of each head, in all attentions whose queries are this stream's
  bool has_ff_bias = true;

  int64_t width() const { return num_heads * head_dim; }
};

// Defaults are those of LTX2VideoTransformer3DModel.
struct TransformerConfig {
  StreamConfig video;
  StreamConfig audio = {.head_dim = 64};
  std::array<int64_t, 3> pixels_per_latent = {8, 32, 32};  // frames, rows, columns
  double base_height = 2048, base_width = 2048;            // that positions are fractions of
  int64_t spectra_per_latent = 4;                          // of sound
  double sampling_rate = 16'000, hop_length = 160;         // of those spectra
  int64_t causal_offset = 1;
  int64_t num_layers = 48;
  double norm_eps = 1e-6;
  int64_t caption_channels = 3840;  // of 2.0's text
  double rope_theta = 10'000;
  bool double_rope = true;  // whether frequencies are made in double precision
  Rotation rotation = Rotation::kInterleaved;
  double gate_time_factor = 1;    // from a time to that of the gates between the streams
  bool projects_captions = true;  // 2.0
  bool modulates_text = false;    // from 2.3 on: queries, keys and values of the text attention
  bool text_by_sigma = true;      // where text is modulated: by sigma too, else by tables alone
  bool perturbs = false;          // self attention can be left out, for guidance
  bool marks_keyframes = false;   // 2.5

  Version version() const;
  // Of sound.
  double latents_per_second() const {
    return sampling_rate / hop_length / static_cast<double>(spectra_per_latent);
  }
};

// FAILED_PRECONDITION with `source` and the key that Reel cannot follow or does not know.
absl::StatusOr<TransformerConfig> ReadTransformerConfig(const nlohmann::json& json,
                                                        const std::string& source);

}  // namespace reel::model::ltx2
