// SPDX-License-Identifier: Apache-2.0
// The CUDA rows of every operator, as libreel_cuda hands them over.
#pragma once

#include "kernels/dispatch/kernel_row.h"

namespace reel::kernels {

OpRows RmsNormCudaRows();

}  // namespace reel::kernels
