// SPDX-License-Identifier: Apache-2.0
// A small video, as far as two steps on a CPU bring it.
#pragma once

#include <vector>

#include "model/pipeline.h"

namespace reel::model::ltx {

// Its latents; none when it failed, which is a failure of the test.
std::vector<float> LatentsAfterTwoSteps(Pipeline& pipeline);

}  // namespace reel::model::ltx
