// SPDX-License-Identifier: Apache-2.0
// The card of a loaded LTX-2 model: the limits, defaults and presets of its requests.
#pragma once

#include <string>

#include "model/ltx2/ltx2_model.h"
#include "model/model_card.h"

namespace reel::model::ltx2 {

ModelCard CardOf(const Ltx2Model& model, const std::string& name);

}  // namespace reel::model::ltx2
