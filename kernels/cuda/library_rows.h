// SPDX-License-Identifier: Apache-2.0
// The CUDA rows of every group of operators, as libreel_cuda hands them over.
#pragma once

#include <vector>

#include "kernels/dispatch/kernel_row.h"

namespace reel::kernels {

std::vector<OpRows> RmsNormCudaRows();
std::vector<OpRows> LayerNormCudaRows();
std::vector<OpRows> NormLinearCudaRows();
std::vector<OpRows> AdalnCudaRows();
std::vector<OpRows> GateCudaRows();
std::vector<OpRows> RopeCudaRows();
std::vector<OpRows> LtxRopeCudaRows();
std::vector<OpRows> ActivationCudaRows();
std::vector<OpRows> ChannelNormSiluCudaRows();
std::vector<OpRows> DepthToSpaceCudaRows();
std::vector<OpRows> FrameConvertCudaRows();
std::vector<OpRows> QuantizeRowsCudaRows();
std::vector<OpRows> AttentionCudaRows();

}  // namespace reel::kernels
