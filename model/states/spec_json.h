// SPDX-License-Identifier: Apache-2.0
// Resolved specs as JSON, by the names that the API has for the fields. Fields with their default
// are left out, and so are pixels and bytes of conditions. Fields that say nothing about the
// video's numbers are left out too: its source, its worker, and whether its state is kept.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

nlohmann::json SpecToJson(const GenerationSpec& spec);

// Expects hostile values. FAILED_PRECONDITION names the field.
absl::StatusOr<GenerationSpec> SpecFromJson(const nlohmann::json& json);

// The names of fields that differ.
std::vector<std::string> Differences(const GenerationSpec& a, const GenerationSpec& b);

}  // namespace reel::model
