// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of every group of operators, as libreel_cuda hands them over.
#pragma once

#include <vector>

#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

std::vector<OpVariants> FusedCudaVariants();
std::vector<OpVariants> RmsNormCudaVariants();
std::vector<OpVariants> NormLinearCudaVariants();
std::vector<OpVariants> RopeCudaVariants();
std::vector<OpVariants> LtxRopeCudaVariants();
std::vector<OpVariants> ActivationCudaVariants();
std::vector<OpVariants> ChannelNormSiluCudaVariants();
std::vector<OpVariants> DepthToSpaceCudaVariants();
std::vector<OpVariants> FrameConvertCudaVariants();
std::vector<OpVariants> QuantizeRowsCudaVariants();
std::vector<OpVariants> AttentionCudaVariants();
std::vector<OpVariants> Int8RowsCudaVariants();
std::vector<OpVariants> LinearCudaVariants();

}  // namespace reel::kernels
