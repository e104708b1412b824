// SPDX-License-Identifier: Apache-2.0
// The card of a loaded LTX-Video model: limits, defaults and presets for requests.
#pragma once

#include <string>

#include "model/ltx/ltx_model.h"
#include "model/model_card.h"

namespace reel::model::ltx {

ModelCard CardOf(const LtxModel& model, const std::string& name);

}  // namespace reel::model::ltx
