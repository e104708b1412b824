// SPDX-License-Identifier: Apache-2.0
// The first half of Resolve: defaults for unset fields.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

// The preset of this name; null if the card has none.
const Preset* FindPreset(const ModelCard& card, std::string_view name);

// Unset fields of `spec` take those of `values`. A schedule (steps or timesteps) is one field.
void FillFrom(GenerationSpec& spec, const GenerationSpec& values);

// Defaults that no model decides: seed, kernels, preview, encoding, strengths of conditions.
void FillServerDefaults(GenerationSpec& spec, uint64_t fresh_seed);

}  // namespace reel::model
