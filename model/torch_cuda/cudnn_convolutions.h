// SPDX-License-Identifier: Apache-2.0
// A function of libreel_torch_cuda.so: cuDNN, which comes with libtorch.
#pragma once

#include "model/bridge/tuned_convolutions.h"

namespace reel::model {

// Of a device, by MakeInTorchCuda.
inline constexpr char kTunedConvolutionsEntry[] = "reel_tuned_convolutions";

}  // namespace reel::model
