// SPDX-License-Identifier: Apache-2.0
// A table of cuDNN's fastest plans for convolutions of the decoder, on Hopper under lasting load,
// if the library chooses another. Measured once (conv_sweep of tests/bench/ltx), so that every
// process uses the same.
#pragma once

#include "model/torch_cuda/conv_plan.h"

namespace reel::model {

// The plan for the current device; null: use the library's choice, for other sizes, devices and
// versions.
const ConvKnobs* TunedFor(const ConvShape& shape);

}  // namespace reel::model
