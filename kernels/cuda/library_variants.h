// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of every operator, as libreel_cuda returns them: RmsNormCudaVariants() and so
// on, one for each row of operators.def.
#pragma once

#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

#define REEL_OPERATOR(op, name, ...) OpVariants name##CudaVariants();
#define REEL_FUSED_OPERATOR REEL_OPERATOR
#include "kernels/operators.def"
#undef REEL_FUSED_OPERATOR
#undef REEL_OPERATOR

}  // namespace reel::kernels
