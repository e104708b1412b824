// SPDX-License-Identifier: Apache-2.0
// The card of a loaded LTX-2 model: the limits, defaults and presets of its requests.
#pragma once

#include <cstdint>
#include <string>

#include "model/ltx2/ltx2_model.h"
#include "model/model_card.h"

namespace reel::model::ltx2 {

// Of films, by the sizes of the transformer. `number_bytes`: of a number in the model's type.
MemoryCosts MemoryOf(const TransformerConfig& config, int64_t number_bytes);

ModelCard CardOf(const Ltx2Model& model, const std::string& name);

}  // namespace reel::model::ltx2
