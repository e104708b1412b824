// SPDX-License-Identifier: Apache-2.0
// Sizes of the transformer.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx {

// Defaults are those of the 2B models, and of LTXVideoTransformer3DModel.
struct TransformerConfig {
  int64_t in_channels = 128;
  int64_t out_channels = 128;
  int64_t num_heads = 32;
  int64_t head_dim = 64;
  int64_t cross_attention_dim = 2048;
  int64_t num_layers = 28;
  int64_t caption_channels = 4096;
  double norm_eps = 1e-6;
  bool attention_bias = true;
  bool attention_out_bias = true;

  int64_t width() const { return num_heads * head_dim; }
};

// FAILED_PRECONDITION with `source` and the key that Reel cannot follow.
absl::StatusOr<TransformerConfig> ReadTransformerConfig(const nlohmann::json& json,
                                                        const std::string& source);

}  // namespace reel::model::ltx
