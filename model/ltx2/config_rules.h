// SPDX-License-Identifier: Apache-2.0
// Rules that the configurations of LTX-2's transformer and connectors share.
#pragma once

#include "model/ltx2/transformer_config.h"
#include "model/weights/config_reader.h"

namespace reel::model::ltx2 {

inline constexpr IntRange kWidths = {1, 65536}, kHeads = {1, 1024};

inline double PositiveNumber(ConfigReader& reader, const char* key, double fallback) {
  const double value = reader.Number(key, fallback);
  if (value <= 0) reader.Fail(key, "must be above 0");
  return value;
}

inline Rotation ReadRotation(ConfigReader& reader) {
  const std::string type = reader.String("rope_type", "interleaved");
  if (type != "interleaved" && type != "split") {
    reader.Fail("rope_type", "must be interleaved or split");
  }
  return type == "split" ? Rotation::kSplit : Rotation::kInterleaved;
}

}  // namespace reel::model::ltx2
