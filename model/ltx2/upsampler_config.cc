// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/upsampler_config.h"

#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

constexpr char kReleased[] = "rational_resampler";

// What a file calls the resampler, and whether it has one where it does not say so.
struct ResamplerWords {
  const char *rational, *scale;
  bool by_default;
};

ResamplerWords WordsOf(const nlohmann::json& json) {
  const bool is_released =
      json.is_object() && (json.contains(kReleased) ||
                           json.value("_class_name", nlohmann::json()) == "LatentUpsampler");
  if (is_released) return {kReleased, "spatial_scale", false};
  return {"use_rational_resampler", "rational_spatial_scale", true};
}

}  // namespace

absl::StatusOr<UpsamplerConfig> ReadUpsamplerConfig(const nlohmann::json& json,
                                                    const std::string& source) {
  constexpr int64_t kReleasedWidth = 1024;
  const ResamplerWords words = WordsOf(json);
  ConfigReader reader(json, source);
  UpsamplerConfig config = ReadUpsamplerKeys(reader, {.width = kReleasedWidth});
  // Where frames double too, the class has no such resampler, whatever the key says.
  config.rational =
      reader.Bool(words.rational, words.by_default) && config.spatial && !config.temporal;
  const double scale = reader.Number(words.scale, 2);
  if (config.rational && scale == 1.5) {
    config.grow = 3;
    config.shrink = 2;
  } else if (scale != 2) {
    reader.Fail(words.scale, config.rational ? "must be 1.5 or 2" : "must be 2");
  }
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx2
