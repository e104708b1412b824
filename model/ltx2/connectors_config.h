// SPDX-License-Identifier: Apache-2.0
// Sizes and features of the connectors between LTX-2's text encoder and its transformer.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/ltx2/transformer_config.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// Of the text for one stream.
struct ConnectorConfig {
  int64_t num_heads = 30;
  int64_t head_dim = 128;
  int64_t num_layers = 2;
  int64_t num_registers = 128;  // learned tokens that stand where a text has none
  bool has_gates = false;

  int64_t width() const { return num_heads * head_dim; }
};

// Defaults are those of LTX2TextConnectors.
struct ConnectorsConfig {
  ConnectorConfig video, audio;
  int64_t caption_channels = 3840;  // of a hidden state of the text encoder
  int64_t num_states = 49;          // of them
  double rope_base = 4096;          // tokens that positions are fractions of
  double rope_theta = 10'000;
  bool double_rope = true;
  Rotation rotation = Rotation::kInterleaved;
  bool projects_each = false;  // from 2.3 on: a projection for each stream
  bool has_projection_bias = false;
};

// FAILED_PRECONDITION with `source` and the key that Reel cannot follow or does not know.
absl::StatusOr<ConnectorsConfig> ReadConnectorsConfig(const nlohmann::json& json,
                                                      const std::string& source);

// Whether a folder's connectors make the text that its transformer takes.
absl::Status CheckConnectors(const ConnectorsConfig& connectors,
                             const TransformerConfig& transformer);

}  // namespace reel::model::ltx2
