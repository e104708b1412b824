// SPDX-License-Identifier: Apache-2.0
#include "server/render/condition_files.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/digest/sha256.h"
#include "kernels/base/program/condition_file.h"
#include "kernels/base/status_macros.h"
#include <CLI/CLI.hpp>

namespace reel::render {

model::RequestLimits RenderLimits() {
  model::RequestLimits limits;
  limits.max_conditions = 64;
  limits.max_condition_bytes = int64_t{1} << 30;
  limits.max_condition_pixels = 200'000'000;
  return limits;
}

namespace {

// A file that is named by a flag of its own. An empty path: none.
absl::Status ReadOne(const std::string& path, model::Condition condition,
                     std::vector<model::Condition>& conditions) {
  if (path.empty()) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(std::string bytes,
                        ReadConditionFile(path, RenderLimits().max_condition_bytes));
  condition.size_bytes = static_cast<int64_t>(bytes.size());
  condition.sha256 = Sha256Hex(bytes);
  condition.bytes = std::make_shared<const std::string>(std::move(bytes));
  conditions.push_back(std::move(condition));
  return absl::OkStatus();
}

}  // namespace

void AddReferenceFlags(CLI::App& app, RenderOptions& options) {
  app.add_option_function<std::string>(
      "--reference",
      [&options](const std::string& text) { options.reference = ParseReferenceFile(text); },
      "FILE[:STRENGTH], the MP4 that an adapter wants a reference of (IC-LoRA); needs --adapter "
      "and --adapter-ranks");
  app.add_option("--reference-attention", options.reference_attention,
                 "0 to 1 (default): how much video and --reference attend to each other")
      ->needs("--reference");
}

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
  model::Condition refined, reference, sound;
  refined.kind = model::Condition::Kind::kVideo;
  refined.use = model::Condition::Use::kRefine;
  REEL_RETURN_IF_ERROR(ReadOne(options.refined_clip, refined, options.spec.conditions));
  if (options.reference) {
    reference.kind = model::Condition::Kind::kVideo;
    reference.use = model::Condition::Use::kReference;
    reference.strength = options.reference->strength;
    reference.attention_strength = options.reference_attention;
    REEL_RETURN_IF_ERROR(ReadOne(options.reference->path, reference, options.spec.conditions));
  }
  sound.kind = model::Condition::Kind::kAudio;
  return ReadOne(options.sound, sound, options.spec.conditions);
}

}  // namespace reel::render
