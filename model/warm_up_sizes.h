// SPDX-License-Identifier: Apache-2.0
// The sizes that a model is warmed up with where nobody names them. From the card alone.
#pragma once

#include <vector>

#include "model/load_options.h"
#include "model/model_card.h"

namespace reel::model {

// A small video, the default one and the largest that a preset makes, from the smallest on: kernels
// are chosen, and libraries set up, by size. Fewer where two are the same, or where a larger one
// does not fit beside weights that were planned for the device (fit_model.h).
std::vector<WarmUpSize> UsualWarmUpSizes(const ModelCard& card);

}  // namespace reel::model
