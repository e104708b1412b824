// SPDX-License-Identifier: Apache-2.0
// Rules that the configurations of Gemma 3 and Gemma 4 share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/gemma_config.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Kinds of layers.
inline constexpr char kSeesAll[] = "full_attention", kSeesNear[] = "sliding_attention";

inline constexpr IntRange kCounts = {1, 1024}, kHeadSizes = {2, 4096};

// Widths, heads, epsilon and window; what is missing stays.
void ReadGemmaSizes(ConfigReader& reader, GemmaConfig& config);
// Which layers see everything: by name, or every so many.
std::vector<bool> LayersThatSeeAll(ConfigReader& reader, int64_t num_layers, int64_t every);
// Each key is that of as many queries; channels turn in pairs.
void CheckHeads(ConfigReader& reader, const GemmaConfig& config);

// Of `text_config`, whose `model_type` is that of a Gemma 4.
absl::StatusOr<GemmaConfig> ReadGemma4Config(const nlohmann::json& json,
                                             const std::string& model_type,
                                             const std::string& source);

}  // namespace reel::model
