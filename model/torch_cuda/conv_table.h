// SPDX-License-Identifier: Apache-2.0
// Which of cuDNN's plans takes a convolution of the decoder fastest on Hopper under lasting load,
// where that is not the one that the library chooses: measured once (conv_sweep of
// tests/bench/ltx), the same in every process.
#pragma once

#include "model/torch_cuda/conv_plan.h"

namespace reel::model {

// Null where the library's own choice stands: for other sizes, devices and versions of it. Of the
// current device.
const ConvKnobs* TunedFor(const ConvShape& shape);

}  // namespace reel::model
