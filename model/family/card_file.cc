// SPDX-License-Identifier: Apache-2.0
#include "model/family/card_file.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr char kCardFile[] = "/reel.json";
constexpr IntRange kSizes = {32, 8192};
constexpr IntRange kFrames = {1, 4097};
constexpr IntRange kSteps = {1, 1000};
constexpr IntRange kTextTokenLimits = {1, 1024};

int Narrow(int64_t value) { return static_cast<int>(value); }  // checked by a range before

// Reads a setting that only some families have. It is an error to set one that this family lacks.
void ReadOffered(const nlohmann::json& json, ConfigReader& reader, const char* key,
                 std::optional<double>& value) {
  if (!json.contains(key)) return;
  if (!value.has_value()) return reader.Fail(key, "is not a setting of this model");
  value = reader.Number(key, *value);
}

void ReadDefaults(const nlohmann::json& json, ConfigReader& reader, GenerationSpec& spec) {
  spec.negative_prompt = reader.String("negative_prompt", spec.negative_prompt.value_or(""));
  spec.width = Narrow(reader.Int("width", spec.width, kSizes));
  spec.height = Narrow(reader.Int("height", spec.height, kSizes));
  spec.num_frames = Narrow(reader.Int("num_frames", spec.num_frames, kFrames));
  spec.num_inference_steps = Narrow(reader.Int("steps", spec.num_inference_steps, kSteps));
  spec.max_text_tokens =
      Narrow(reader.Int("max_text_tokens", spec.max_text_tokens, kTextTokenLimits));
  spec.frame_rate = reader.Number("frame_rate", spec.frame_rate);
  for (const auto& [key, value] :
       {std::pair("guidance_scale", &spec.guidance_scale),
        std::pair("guidance_rescale", &spec.guidance_rescale),
        std::pair("stg_scale", &spec.stg_scale), std::pair("modality_scale", &spec.modality_scale),
        std::pair("audio_guidance_scale", &spec.audio_guidance_scale),
        std::pair("audio_guidance_rescale", &spec.audio_guidance_rescale),
        std::pair("audio_stg_scale", &spec.audio_stg_scale),
        std::pair("audio_modality_scale", &spec.audio_modality_scale),
        std::pair("decode_timestep", &spec.decode_timestep),
        std::pair("decode_noise_scale", &spec.decode_noise_scale)}) {
    ReadOffered(json, reader, key, *value);
  }
}

void ReadLimits(ConfigReader& reader, ModelLimits& limits) {
  limits.min_size = Narrow(reader.Int("min_size", limits.min_size, kSizes));
  limits.max_size = Narrow(reader.Int("max_size", limits.max_size, kSizes));
  limits.max_frames = Narrow(reader.Int("max_frames", limits.max_frames, kFrames));
  limits.max_steps = Narrow(reader.Int("max_steps", limits.max_steps, kSteps));
  limits.max_text_tokens =
      Narrow(reader.Int("max_text_tokens", limits.max_text_tokens, kTextTokenLimits));
}

// [{"name": "colours", "words": ["red", ...]}, ...]
void ReadPromptWords(const nlohmann::json& json, ConfigReader& whole,
                     std::vector<PromptWords>& groups) {
  const auto found = json.find("prompt_words");
  if (found == json.end()) return;
  if (!found->is_array()) return whole.Fail("prompt_words", "is a list");
  for (const nlohmann::json& item : *found) {
    if (!item.is_object()) return whole.Fail("prompt_words", "holds objects only");
    ConfigReader reader(item, "prompt_words");
    PromptWords group{reader.String("name", ""), reader.Strings("words", {})};
    if (!reader.status().ok() || group.name.empty() || group.words.empty()) {
      return whole.Fail("prompt_words", "holds objects with a name and a list of words");
    }
    groups.push_back(std::move(group));
  }
}

// Only the presets that the file names, where it names any or none.
void KeepPresets(const nlohmann::json& json, ConfigReader& reader, std::vector<Preset>& presets) {
  if (!json.contains("presets")) return;
  const std::vector<std::string> names = reader.Strings("presets", {});
  for (const std::string& name : names) {
    if (std::ranges::find(presets, name, &Preset::name) == presets.end()) {
      return reader.Fail("presets", "has names of this model's presets only");
    }
  }
  std::erase_if(presets, [&names](const Preset& preset) {
    return std::ranges::find(names, preset.name) == names.end();
  });
}

// Presets that the folder's own limits would refuse.
void DropPresetsBeyond(const ModelLimits& limits, std::vector<Preset>& presets) {
  std::erase_if(presets, [&limits](const Preset& preset) {
    const GenerationSpec& values = preset.values;
    return std::max(values.width, values.height) > limits.max_size ||
           values.num_frames > limits.max_frames || values.num_inference_steps > limits.max_steps;
  });
}

// An object of the file; empty where it is left out.
nlohmann::json Section(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? nlohmann::json::object() : *found;
}

// The tiles of `key` in units of one latent; nullopt where the file does not ask for them.
absl::StatusOr<std::optional<Tiles>> ReadTiles(const nlohmann::json& json, const std::string& file,
                                               const std::string& key, Tiles tiles, int64_t unit) {
  const auto found = json.find(key);
  if (found == json.end()) return std::nullopt;
  const std::string source = file + ": " + key;
  const nlohmann::json part = found->is_object() ? *found : nlohmann::json::object();
  ConfigReader reader(part, source);
  if (!found->is_object()) reader.Fail(key, "is an object");
  tiles.size = reader.Int("size", tiles.size, {unit, kSizes.max});
  tiles.stride = reader.Int("stride", tiles.stride, {unit, kSizes.max});
  if (tiles.size % unit != 0) reader.Fail("size", "is a multiple of " + std::to_string(unit));
  if (tiles.stride % unit != 0) reader.Fail("stride", "is a multiple of " + std::to_string(unit));
  if (tiles.stride > tiles.size) reader.Fail("stride", "is at most the size");
  REEL_RETURN_IF_ERROR(reader.status());
  return tiles;
}

// An empty object if there is no file.
absl::StatusOr<nlohmann::json> ReadCardFile(const std::string& file) {
  auto json = ReadJsonFile(file);
  if (absl::IsNotFound(json.status())) return nlohmann::json::object();
  return json;
}

}  // namespace

absl::StatusOr<VaeTiling> ReadVaeTiling(const std::string& folder) {
  const std::string file = folder + kCardFile;
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadCardFile(file));
  VaeTiling tiling;
  REEL_ASSIGN_OR_RETURN(tiling.space, ReadTiles(json, file, "vae_tiles", {512, 448}, 32));
  REEL_ASSIGN_OR_RETURN(tiling.frames, ReadTiles(json, file, "vae_frame_tiles", {16, 8}, 8));
  return tiling;
}

absl::Status ApplyCardFile(const std::string& folder, ModelCard& card) {
  const std::string file = folder + kCardFile;
  const auto json = ReadCardFile(file);
  REEL_RETURN_IF_ERROR(json.status());
  const nlohmann::json defaults = Section(*json, "defaults"), limits = Section(*json, "limits");
  ConfigReader whole(*json, file);
  card.family = whole.String("family", card.family);
  if (!defaults.is_object()) whole.Fail("defaults", "is an object");
  if (!limits.is_object()) whole.Fail("limits", "is an object");
  ReadPromptWords(*json, whole, card.prompt_words);
  KeepPresets(*json, whole, card.presets);
  REEL_RETURN_IF_ERROR(whole.status());
  ConfigReader default_reader(defaults, file + ": defaults");
  ReadDefaults(defaults, default_reader, card.defaults);
  REEL_RETURN_IF_ERROR(default_reader.status());
  ConfigReader limit_reader(limits, file + ": limits");
  ReadLimits(limit_reader, card.limits);
  REEL_RETURN_IF_ERROR(limit_reader.status());
  DropPresetsBeyond(card.limits, card.presets);
  return absl::OkStatus();
}

}  // namespace reel::model
