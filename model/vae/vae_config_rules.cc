// SPDX-License-Identifier: Apache-2.0
#include "model/vae/vae_config_rules.h"

namespace reel::model {

std::optional<FoldStrides> FoldOf(const std::string& type) {
  if (type == "spatial") return FoldStrides{1, 2};
  if (type == "temporal") return FoldStrides{2, 1};
  if (type == "spatiotemporal") return FoldStrides{2, 2};
  return std::nullopt;
}

void CheckFold(ConfigReader& reader, const DownStage& stage) {
  const char* key = "block_out_channels";
  const int64_t fold = stage.stride_t * stage.stride_s * stage.stride_s;
  if (stage.out % fold != 0) reader.Fail(key, "must be divisible by their stage's strides");
  if (stage.in * fold % stage.out != 0) {
    reader.Fail(key, "must divide what their stage's strides make of the stage before");
  }
}

}  // namespace reel::model
