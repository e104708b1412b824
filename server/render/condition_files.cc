// SPDX-License-Identifier: Apache-2.0
#include "server/render/condition_files.h"

#include <memory>
#include <string>
#include <utility>

#include "kernels/base/digest/sha256.h"
#include "kernels/base/program/condition_file.h"
#include "kernels/base/status_macros.h"

namespace reel::render {

model::RequestLimits RenderLimits() {
  model::RequestLimits limits;
  limits.max_conditions = 64;
  limits.max_condition_bytes = int64_t{1} << 30;
  limits.max_condition_pixels = 200'000'000;
  return limits;
}

namespace {

absl::Status ReadSoundFile(RenderOptions& options) {
  if (options.sound.empty()) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(std::string bytes,
                        ReadConditionFile(options.sound, RenderLimits().max_condition_bytes));
  model::Condition condition;
  condition.kind = model::Condition::Kind::kAudio;
  condition.size_bytes = static_cast<int64_t>(bytes.size());
  condition.sha256 = Sha256Hex(bytes);
  condition.bytes = std::make_shared<const std::string>(std::move(bytes));
  options.spec.conditions.push_back(std::move(condition));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadConditionFiles(RenderOptions& options) {
  for (const ConditionFile& file : options.conditions) {
    REEL_ASSIGN_OR_RETURN(std::string bytes,
                          ReadConditionFile(file.path, RenderLimits().max_condition_bytes));
    model::Condition condition;
    condition.kind =
        IsClip(bytes) ? model::Condition::Kind::kVideo : model::Condition::Kind::kImage;
    condition.frame_index = file.frame_index;
    condition.strength = file.strength;
    condition.size_bytes = static_cast<int64_t>(bytes.size());
    condition.bytes = std::make_shared<const std::string>(std::move(bytes));
    options.spec.conditions.push_back(std::move(condition));
  }
  return ReadSoundFile(options);
}

}  // namespace reel::render
