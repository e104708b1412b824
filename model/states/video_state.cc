// SPDX-License-Identifier: Apache-2.0
#include "model/states/video_state.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "model/pass_work.h"
#include "model/states/spec_json.h"
#include "model/weights/json_file.h"
#include "model/weights/safetensors_header.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

constexpr char kFormat[] = "reel.state.1";
constexpr char kConditionPrefix[] = "condition.";
constexpr char kVideoFile[] = "file";
constexpr size_t kAlignment = 8;
// 64 conditions, which only a program for a single user takes, and a family's own tensors.
constexpr SafetensorsLimits kLimits = {
    .max_header_bytes = int64_t{1} << 20, .max_tensors = 96, .max_rank = 8, .max_name_bytes = 64};

absl::Status Damaged(const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("the state is damaged: ", why));
}

std::string TextOf(const std::vector<FixedAdapter>& adapters) {
  return absl::StrJoin(adapters, ", ", [](std::string* text, const FixedAdapter& adapter) {
    absl::StrAppend(text, adapter.name, " ", adapter.sha256, " times ", adapter.scale);
  });
}

// A file's name need not be valid UTF-8.
std::string TextOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string ConditionName(size_t index) { return absl::StrCat(kConditionPrefix, index); }

const char* TypeName(StateTensor::Type type) {
  return type == StateTensor::Type::kF32 ? "F32" : "U8";
}

// Without what says nothing about the video itself; conditions are described by their bytes.
GenerationSpec SpecOfVideo(GenerationSpec spec) {
  for (Condition& condition : spec.conditions) {
    if (condition.bytes == nullptr) continue;
    condition.size_bytes = static_cast<int64_t>(condition.bytes->size());
    condition.sha256 = Sha256Hex(*condition.bytes);
  }
  return spec;
}

// The bytes of a safetensors file, its tensors in the order of their names.
std::string FileOf(const std::map<std::string, StateTensor>& tensors, json metadata) {
  json header = {{"__metadata__", std::move(metadata)}};
  size_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = std::exchange(end, end + tensor.bytes.size());
    header[name] = {
        {"dtype", TypeName(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = TextOf(header);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = text.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  file.reserve(file.size() + text.size() + end);
  file += text;
  for (const auto& [name, tensor] : tensors) file += tensor.bytes;
  return file;
}

// Beside the tensors and the largest header.
bool HasRoomFor(size_t bytes, const std::map<std::string, StateTensor>& tensors) {
  for (const auto& [name, tensor] : tensors) bytes += tensor.bytes.size();
  return static_cast<int64_t>(bytes) + 2 * kLimits.max_header_bytes <= PassState::kMostFileBytes;
}

bool IsFinite(const std::string& bytes) {
  for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    if (!std::isfinite(value)) return false;
  }
  return true;
}

absl::StatusOr<StateTensor> TensorOf(const TensorEntry& entry, std::string_view file) {
  if (entry.type != TensorType::kF32 && entry.type != TensorType::kU8) {
    return Damaged(absl::StrCat("a tensor is neither of F32 nor of U8: ", entry.name));
  }
  StateTensor tensor;
  tensor.type = entry.type == TensorType::kF32 ? StateTensor::Type::kF32 : StateTensor::Type::kU8;
  tensor.shape = entry.shape;
  tensor.bytes =
      file.substr(static_cast<size_t>(entry.begin), static_cast<size_t>(entry.end - entry.begin));
  if (tensor.type == StateTensor::Type::kF32 && !IsFinite(tensor.bytes)) {
    return Damaged(absl::StrCat("a tensor has NaN or Inf: ", entry.name));
  }
  return tensor;
}

// Moves the conditions' bytes from the tensors to the spec. Only a draft's later passes need them.
absl::Status TakeConditions(VideoState& state) {
  std::vector<Condition>& conditions = state.spec.conditions;
  for (size_t i = 0; i < conditions.size() && state.spec.stop_after_pass; ++i) {
    auto node = state.made.tensors.extract(ConditionName(i));
    if (node.empty() || Sha256Hex(node.mapped().bytes) != conditions[i].sha256) {
      return Damaged(absl::StrCat("the bytes of a condition are missing or changed: ", i));
    }
    conditions[i].bytes = std::make_shared<const std::string>(std::move(node.mapped().bytes));
  }
  return absl::OkStatus();
}

// FAILED_PRECONDITION for a text that is missing or longer than any that is written.
absl::Status TakeFacts(const std::map<std::string, std::string>& metadata, VideoState& state) {
  const auto text = [&metadata](const char* name) {
    const auto found = metadata.find(name);
    return found == metadata.end() ? std::string() : found->second;
  };
  if (text("format") != kFormat) return Damaged(absl::StrCat("it is not of the format ", kFormat));
  state.family = text("family");
  state.weights_sha256 = text("weights_sha256");
  state.fixed_adapters = text("fixed_adapters");
  state.build = text("build");
  if (!absl::SimpleAtoi(text("passes"), &state.made.passes) || state.made.passes < 1 ||
      !absl::SimpleAtoi(text("parameters"), &state.parameters)) {
    return Damaged("a number of its metadata cannot be read");
  }
  REEL_ASSIGN_OR_RETURN(const json spec, ParseJson(text("spec"), "the state's spec"));
  REEL_ASSIGN_OR_RETURN(state.spec, SpecFromJson(spec));
  return absl::OkStatus();
}

// Of a promotion, which is all of the draft's spec.
std::vector<std::string> DifferencesOfPromotion(const VideoState& state,
                                                const GenerationSpec& promotion) {
  GenerationSpec draft = SpecOfVideo(promotion);
  draft.model = state.spec.model;  // its name may differ from server to server
  draft.stop_after_pass = state.made.passes;
  return Differences(state.spec, draft);
}

// Of a request that holds latents of the video. They have the size of its last pass.
std::vector<std::string> DifferencesOfHeld(const VideoState& state, const GenerationSpec& resolved,
                                           const ModelCard& card) {
  const GenerationSpec& of = state.spec;
  std::vector<std::string> differ;
  const PassWork latents = PassesOf(of, card).back();
  if (latents.width != resolved.width || latents.height != resolved.height) {
    differ.push_back(absl::StrCat("the size of its latents, ", latents.width, "x", latents.height,
                                  " instead of ", resolved.width, "x", resolved.height));
  }
  if (of.frame_rate != resolved.frame_rate) differ.emplace_back("frame_rate");
  if (resolved.is_retake() && of.num_frames != resolved.num_frames) {
    differ.emplace_back("num_frames");
  }
  if (resolved.is_extension() && of.num_frames < resolved.source->extend.overlap_frames) {
    differ.emplace_back("num_frames, fewer than the overlap");
  }
  if (of.adapters != resolved.adapters) differ.emplace_back("adapters");
  return differ;
}

}  // namespace

std::string WriteState(const GenerationSpec& spec, const ModelCard& card, const PassState& made,
                       std::string file) {
  const GenerationSpec own = SpecOfVideo(spec);
  std::map<std::string, StateTensor> tensors = made.tensors;
  for (size_t i = 0; i < own.conditions.size() && own.stop_after_pass; ++i) {
    const std::string& bytes = *own.conditions[i].bytes;
    tensors[ConditionName(i)] = {
        StateTensor::Type::kU8, {static_cast<int64_t>(bytes.size())}, bytes};
  }
  if (!file.empty() && HasRoomFor(file.size(), tensors)) {
    const auto size = static_cast<int64_t>(file.size());
    tensors[kVideoFile] = {StateTensor::Type::kU8, {size}, std::move(file)};
  }
  return FileOf(tensors, {{"build", REEL_VERSION},
                          {"family", card.family},
                          {"fixed_adapters", TextOf(card.fixed_adapters)},
                          {"format", kFormat},
                          {"parameters", absl::StrCat(card.parameters)},
                          {"passes", absl::StrCat(made.passes)},
                          {"spec", TextOf(SpecToJson(own))},
                          {"weights_sha256", card.weights_sha256}});
}

absl::StatusOr<VideoState> ReadState(std::string_view file) {
  if (static_cast<int64_t>(file.size()) > PassState::kMostFileBytes) {
    return Damaged(
        absl::StrCat("it has ", file.size(), " bytes, above ", PassState::kMostFileBytes));
  }
  const auto header = ParseSafetensorsHeader(
      absl::MakeConstSpan(reinterpret_cast<const std::byte*>(file.data()), file.size()), kLimits);
  if (!header.ok()) return Damaged(std::string(header.status().message()));
  VideoState state;
  REEL_RETURN_IF_ERROR(TakeFacts(header->metadata, state));
  for (const TensorEntry& entry : header->tensors) {
    REEL_ASSIGN_OR_RETURN(state.made.tensors[entry.name], TensorOf(entry, file));
  }
  REEL_RETURN_IF_ERROR(TakeConditions(state));
  auto node = state.made.tensors.extract(kVideoFile);
  if (!node.empty()) state.file = std::move(node.mapped().bytes);
  return state;
}

absl::Status CheckFits(const VideoState& state, const GenerationSpec& resolved,
                       const ModelCard& card) {
  const bool is_draft = state.spec.stop_after_pass.has_value();
  if (resolved.holds_latents() && is_draft) {
    return absl::FailedPreconditionError("the video is a draft: passes of its preset are left out");
  }
  if (!resolved.holds_latents() && !is_draft) {
    return absl::FailedPreconditionError("the video is no draft: it has all passes of its preset");
  }
  std::vector<std::string> differ = resolved.holds_latents()
                                        ? DifferencesOfHeld(state, resolved, card)
                                        : DifferencesOfPromotion(state, resolved);
  const auto compare = [&differ](const char* what, bool same) {
    if (!same) differ.emplace_back(what);
  };
  compare("the family of the model", state.family == card.family);
  compare("the number of parameters", state.parameters == card.parameters);
  // Without a manifest on either side the weights have no hash.
  compare("the weights", state.weights_sha256.empty() || card.weights_sha256.empty() ||
                             state.weights_sha256 == card.weights_sha256);
  compare("the adapters in the weights", state.fixed_adapters == TextOf(card.fixed_adapters));
  if (differ.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the state was kept by another model or request; what differs: ",
                   absl::StrJoin(differ, ", ")));
}

GenerationSpec PromotionOf(const VideoState& draft) {
  GenerationSpec spec = draft.spec;
  spec.model.clear();
  spec.stop_after_pass.reset();
  spec.source =
      Source{.video = "", .begin = Source::Begin::kPromote, .state_sha256 = "", .state = nullptr};
  return spec;
}

}  // namespace reel::model
