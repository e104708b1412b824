// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/peft_config.h"

#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kernels/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr size_t kMostPatterns = 20'000;
constexpr char kRegularExpression[] = "^$*+?()[]{}|\\";

absl::Status SettingError(const std::string& source, const std::string& key,
                          absl::string_view rule) {
  return absl::FailedPreconditionError(
      absl::StrCat("the adapter's settings cannot be used: ", source, ": ", key, ": ", rule));
}

// The settings of one component, without its prefix.
nlohmann::json SettingsOf(const nlohmann::json& all, absl::string_view component) {
  const std::string prefix = absl::StrCat(component, ".");
  nlohmann::json own = nlohmann::json::object(), plain = nlohmann::json::object();
  for (const auto& [key, value] : all.items()) {
    absl::string_view rest = key;
    if (absl::ConsumePrefix(&rest, prefix)) {
      own[std::string(rest)] = value;
    } else if (!absl::StrContains(key, '.')) {
      plain[key] = value;
    }
  }
  return own.empty() ? plain : own;
}

bool IsOff(const nlohmann::json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>()) ||
         ((value.is_array() || value.is_object()) && value.empty());
}

// Adapters whose first values were taken out of the weights that they were trained on.
bool ChangesWeights(const nlohmann::json& init) {
  if (!init.is_string()) return false;
  const std::string how = init.get<std::string>();
  return how != "gaussian" && how != "eva" && how != "orthogonal";
}

absl::Status CheckKindOf(const nlohmann::json& own, const std::string& source) {
  for (const char* key : {"use_dora", "lora_bias", "modules_to_save", "fan_in_fan_out"}) {
    const auto found = own.find(key);
    if (found != own.end() && !IsOff(*found)) {
      return SettingError(source, key, "Reel does not read such adapters");
    }
  }
  const auto bias = own.find("bias");
  if (bias != own.end() && !bias->is_null() && *bias != "none") {
    return SettingError(source, "bias", "Reel does not read adapters with biases");
  }
  const auto type = own.find("peft_type");
  if (type != own.end() && !type->is_null() && *type != "LORA") {
    return SettingError(source, "peft_type", "Reel reads LORA alone");
  }
  const auto init = own.find("init_lora_weights");
  if (init != own.end() && ChangesWeights(*init)) {
    return SettingError(source, "init_lora_weights",
                        "the adapter belongs to weights that were changed for it");
  }
  return absl::OkStatus();
}

bool IsFinite(const nlohmann::json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

absl::Status ReadPatterns(const nlohmann::json& own, const char* key, const std::string& source,
                          std::map<std::string, double, std::less<>>& out) {
  const auto found = own.find(key);
  if (found == own.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_object() || found->size() > kMostPatterns) {
    return SettingError(source, key, "must be an object of layers and numbers");
  }
  for (const auto& [pattern, value] : found->items()) {
    if (!IsFinite(value)) return SettingError(source, key, "must have finite numbers");
    if (pattern.empty() || pattern.find_first_of(kRegularExpression) != std::string::npos) {
      return SettingError(source, key, "Reel reads names of layers, no regular expressions");
    }
    out[pattern] = value.get<double>();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PeftConfig> PeftConfig::Read(const nlohmann::json& settings,
                                            absl::string_view component,
                                            const std::string& source) {
  const auto own = SettingsOf(settings, component);
  REEL_RETURN_IF_ERROR(CheckKindOf(own, source));
  PeftConfig config(source);
  REEL_RETURN_IF_ERROR(ReadPatterns(own, "alpha_pattern", source, config.alphas_));
  REEL_RETURN_IF_ERROR(ReadPatterns(own, "rank_pattern", source, config.ranks_));
  if (const auto alpha = own.find("lora_alpha"); alpha != own.end() && !alpha->is_null()) {
    if (!IsFinite(*alpha)) return SettingError(source, "lora_alpha", "must be a finite number");
    config.alpha_ = alpha->get<double>();
  }
  const auto root = own.find("use_rslora");
  config.divides_by_root_ = root != own.end() && !IsOff(*root);
  return config;
}

absl::StatusOr<std::optional<double>> PeftConfig::Match(const char* name, const Patterns& patterns,
                                                        absl::string_view layer) const {
  std::optional<double> value;
  // A pattern is a name, or its last words.
  for (absl::string_view rest = layer; !rest.empty();) {
    const auto found = patterns.find(std::string_view(rest.data(), rest.size()));
    if (found != patterns.end()) {
      if (value.has_value() && *value != found->second) {
        return SettingError(source_, name, absl::StrCat("two patterns match the layer ", layer));
      }
      value = found->second;
    }
    const size_t dot = rest.find('.');
    rest = dot == absl::string_view::npos ? absl::string_view() : rest.substr(dot + 1);
  }
  return value;
}

absl::StatusOr<std::optional<double>> PeftConfig::AlphaOf(absl::string_view layer) const {
  REEL_ASSIGN_OR_RETURN(const std::optional<double> alpha, Match("alpha_pattern", alphas_, layer));
  return alpha.has_value() ? alpha : alpha_;
}

absl::StatusOr<std::optional<double>> PeftConfig::PatternRankOf(absl::string_view layer) const {
  return Match("rank_pattern", ranks_, layer);
}

}  // namespace reel::model
