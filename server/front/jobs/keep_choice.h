// SPDX-License-Identifier: Apache-2.0
// Decides once, at the request, whether a video keeps its state. Pure.
#pragma once

#include <vector>

#include "model/resolve.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// Fills in `keep_state`; a violation if it is requested but configured to be off.
void ChooseKeep(StateOptions::Keep keep, model::GenerationSpec& spec,
                std::vector<model::FieldViolation>& out);

}  // namespace reel::front
