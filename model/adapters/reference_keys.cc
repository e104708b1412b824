// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/reference_keys.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/adapters/adapter_error.h"

namespace reel::model {
namespace {

constexpr size_t kMostOfAValue = 16;

// Nullopt: the key is not there.
absl::StatusOr<std::optional<int>> FactorAt(const WeightFile& file, const char* key) {
  const auto& metadata = file.header().metadata;
  const auto found = metadata.find(key);
  if (found == metadata.end()) return std::nullopt;
  const std::string& text = found->second;
  const int factor = text.size() == 1 ? text[0] - '0' : 0;
  if (factor >= 1 && factor <= kMostReferenceScale) return factor;
  return AdapterError(file.path(), key,
                      absl::StrCat("it is \"", absl::CHexEscape(text.substr(0, kMostOfAValue)),
                                   "\", not 1 to ", kMostReferenceScale));
}

}  // namespace

absl::StatusOr<std::optional<ReferenceScale>> ReadReferenceScale(const WeightFile& file) {
  REEL_ASSIGN_OR_RETURN(const std::optional<int> sides,
                        FactorAt(file, "reference_downscale_factor"));
  REEL_ASSIGN_OR_RETURN(const std::optional<int> frames,
                        FactorAt(file, "reference_temporal_scale_factor"));
  if (!sides.has_value() && !frames.has_value()) return std::nullopt;
  return ReferenceScale{.sides = sides.value_or(1), .frames = frames.value_or(1)};
}

}  // namespace reel::model
