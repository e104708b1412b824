// SPDX-License-Identifier: Apache-2.0
// prepare_norm_linear: a block a row of W, any strides. Runs once for a layer, so it is not tuned.
#include <algorithm>

#include "kernels/norm_linear/norm_linear_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    FoldNorm(const __grid_constant__ PrepareNormLinearParams p) {
  __shared__ float scratch[2 * kThreads / 32];
  const RowPointer norm_weight = PointAtVector(p.norm_weight);
  const RowPointer norm_bias = PointAtVector(p.norm_bias);
  for (int64_t row = blockIdx.x; row < p.shape.rows; row += gridDim.x) {
    const RowPlace place = PlaceOf(p.shape, row);
    const RowPointer from = PointAt(p.shape, p.weight, place);
    const RowPointer to = PointAt(p.shape, p.folded, place);
    float sums[2] = {};  // of W', and of W beta
    for (int64_t i = threadIdx.x; i < p.shape.width; i += kThreads) {
      float weight[1], factor[1], bias[1];
      LoadRow<T>(from, i, weight);
      LoadVector<T>(norm_weight, i, 1.0f, factor);
      LoadVector<T>(norm_bias, i, 0.0f, bias);
      const float folded[1] = {ToFp32(FromFp32<T>(weight[0] * factor[0]))};
      StoreRow<T>(to, i, folded);
      sums[0] += folded[0];
      sums[1] = fmaf(weight[0], bias[0], sums[1]);
    }
    GroupSums<kThreads>(sums, scratch);
    if (threadIdx.x == 0) {
      if (p.sums.data != nullptr) {
        static_cast<float*>(p.sums.data)[row * p.sums.inner] = sums[0];
      }
      if (p.folded_bias.data != nullptr) {
        float bias[1];
        LoadVector<T>(PointAtVector(p.bias), row, 0.0f, bias);
        static_cast<float*>(p.folded_bias.data)[row * p.folded_bias.inner] = bias[0] + sums[1];
      }
    }
    __syncthreads();  // the scratch of the previous reduction has been read
  }
}

}  // namespace

int32_t LaunchPrepareNormLinearGeneric(const PrepareNormLinearParams& params, void* stream) {
  if (params.shape.rows == 0) return cudaSuccess;
  const auto grid = static_cast<unsigned>(std::min<int64_t>(params.shape.rows, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.weight.dtype, [&]<typename T>(T) {
    FoldNorm<T><<<grid, kThreads, 0, on>>>(params);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
