// SPDX-License-Identifier: Apache-2.0
// Runs convolutions with cuDNN, which comes with libtorch. A function of libreel_torch_cuda.so.
#pragma once

#include "model/bridge/tuned_convolutions.h"

namespace reel::model {

// For one device, by MakeInTorchCuda.
inline constexpr char kTunedConvolutionsEntry[] = "reel_tuned_convolutions";

}  // namespace reel::model
