// SPDX-License-Identifier: Apache-2.0
// The choice whether a video keeps its state, made once, when it is requested. Pure.
#pragma once

#include <vector>

#include "model/resolve.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// Fills in `keep_state`. A violation where it is asked for and never done.
void ChooseKeep(StateOptions::Keep keep, model::GenerationSpec& spec,
                std::vector<model::FieldViolation>& out);

}  // namespace reel::front
