// SPDX-License-Identifier: Apache-2.0
// The settings that PEFT writes beside an adapter, as far as they decide what its tensors mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Immutable.
class PeftConfig {
 public:
  // Reads the keys of `component` ("transformer"), which stand behind "transformer.", or all where
  // none has such a prefix. FAILED_PRECONDITION names `source`, the key and the rule: a value is
  // malformed, or the adapter is more than products of two matrices.
  static absl::StatusOr<PeftConfig> Read(const nlohmann::json& settings,
                                         absl::string_view component, const std::string& source);

  // The alpha and the rank of a layer; nullopt: the settings have none for it. FAILED_PRECONDITION:
  // patterns that contradict each other match the layer.
  absl::StatusOr<std::optional<double>> AlphaOf(absl::string_view layer) const;
  absl::StatusOr<std::optional<double>> PatternRankOf(absl::string_view layer) const;
  // True: the scale is alpha / sqrt(rank), else alpha / rank.
  bool divides_by_root() const { return divides_by_root_; }

 private:
  using Patterns = std::map<std::string, double, std::less<>>;
  explicit PeftConfig(std::string source) : source_(std::move(source)) {}
  absl::StatusOr<std::optional<double>> Match(const char* name, const Patterns& patterns,
                                              absl::string_view layer) const;

  std::string source_;
  std::optional<double> alpha_;
  Patterns alphas_, ranks_;
  bool divides_by_root_ = false;
};

}  // namespace reel::model
