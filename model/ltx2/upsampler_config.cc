// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/upsampler_config.h"

#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {

absl::StatusOr<UpsamplerConfig> ReadUpsamplerConfig(const nlohmann::json& json,
                                                    const std::string& source) {
  constexpr int64_t kReleasedWidth = 1024;
  ConfigReader reader(json, source);
  UpsamplerConfig config = ReadUpsamplerKeys(reader, {.width = kReleasedWidth});
  // Where frames double too, the class has no such resampler, whatever the key says.
  config.rational =
      reader.Bool("use_rational_resampler", true) && config.spatial && !config.temporal;
  const double scale = reader.Number("rational_spatial_scale", 2);
  if (config.rational && scale == 1.5) {
    config.grow = 3;
    config.shrink = 2;
  } else if (scale != 2) {
    reader.Fail("rational_spatial_scale", config.rational ? "must be 1.5 or 2" : "must be 2");
  }
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx2
