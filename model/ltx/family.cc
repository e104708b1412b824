// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/family.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "model/ltx/checkpoint_names.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/weights/checkpoint.h"

namespace reel::model::ltx {
namespace {

// LTXPipeline, LTXConditionPipeline and the like; LTX2Pipeline and later are other models.
bool IsPipelineClass(std::string_view name) {
  constexpr std::string_view kPrefix = "LTX";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         !absl::ascii_isdigit(static_cast<unsigned char>(name[kPrefix.size()]));
}

bool Recognises(const Checkpoint& checkpoint) {
  if (checkpoint.file.has_value()) return DetectVersion(*checkpoint.file).ok();
  return IsPipelineClass(checkpoint.pipeline_class);
}

}  // namespace

ModelFamily Family() {
  return {.name = "LTX-Video",
          .recognises = Recognises,
          .load = LoadLtxPipeline,
          .check = CheckLtxModel,
          .takes_adapters = true};
}

}  // namespace reel::model::ltx
