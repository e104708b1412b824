// SPDX-License-Identifier: Apache-2.0
// What requests may ask of a loaded LTX-Video model.
#pragma once

#include <string>

#include "model/ltx/ltx_model.h"
#include "model/model_card.h"

namespace reel::model::ltx {

ModelCard CardOf(const LtxModel& model, const std::string& name);

}  // namespace reel::model::ltx
