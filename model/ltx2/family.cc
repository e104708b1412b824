// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/family.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/ltx2/ltx2_pipeline.h"
#include "model/ltx2/single_file.h"
#include "model/weights/checkpoint.h"

namespace reel::model::ltx2 {
namespace {

constexpr std::array<std::string_view, 3> kPipelineClasses = {
    "LTX2Pipeline", "LTX2ImageToVideoPipeline", "LTX2ConditionPipeline"};

bool Recognises(const Checkpoint& checkpoint) {
  if (checkpoint.file.has_value()) return IsLtx2File(*checkpoint.file);
  return std::find(kPipelineClasses.begin(), kPipelineClasses.end(), checkpoint.pipeline_class) !=
         kPipelineClasses.end();
}

}  // namespace

ModelFamily Family() {
  return {.name = "LTX-2",
          .recognises = Recognises,
          .load = LoadLtx2Pipeline,
          .check = CheckLtx2Model,
          .takes_adapters = true};
}

}  // namespace reel::model::ltx2
