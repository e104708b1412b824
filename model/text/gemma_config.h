// SPDX-License-Identifier: Apache-2.0
// The configuration of a Gemma text encoder, version 3 or 4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Defaults are those of Gemma 3 12B.
struct GemmaConfig {
  // Of layers of one kind: how tokens see each other and where they are.
  struct Attention {
    double theta = 10'000;          // of the rotation
    double positions_per_step = 1;  // positions are divided by it
    double turned = 1;              // the share of a head's pairs of channels that turns
    int64_t num_key_heads = 8;
    int64_t head_dim = 256;
    bool keys_are_values = false;  // one layer makes both; values are what comes out of it
  };

  int version = 3;
  int64_t vocab_size = 262'208;
  int64_t width = 3840;
  int64_t feed_forward = 15'360;
  int64_t num_heads = 16;
  double eps = 1e-6;
  double score_scale = 1.0 / 16;
  int64_t window = 1024;            // tokens that a local layer sees: itself and those before it
  std::vector<bool> sees_all = {};  // of each layer; the others are local
  Attention full = {.theta = 1'000'000, .positions_per_step = 8};
  Attention local = {};
  double norms_lack = 1;       // what a norm's weight lacks to be its factor
  bool norms_values = false;   // by a norm without a weight
  bool scales_layers = false;  // what a layer makes is multiplied by a number of its own

  int64_t num_layers() const { return static_cast<int64_t>(sees_all.size()); }
  const Attention& attention(int64_t layer) const {
    return sees_all[static_cast<size_t>(layer)] ? full : local;
  }
};

// Reads the whole file, of which `text_config` counts, or that part alone. FAILED_PRECONDITION
// names what is not supported.
absl::StatusOr<GemmaConfig> ReadGemmaConfig(const nlohmann::json& json, const std::string& source);

}  // namespace reel::model
