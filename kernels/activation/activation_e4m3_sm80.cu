// SPDX-License-Identifier: Apache-2.0
// gelu_tanh to e4m3 for rows of 16-byte vectors (ActivationE4m3Accepts): a row's activated values
// stay in registers while the largest is found. Bound by memory: x is read once, a byte an element
// written.
#include "kernels/activation/activation_function.cuh"
#include "kernels/activation/activation_launch.h"
#include "kernels/rows/plain_e4m3.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {
namespace {

struct GeluE4m3Params {
  PlainOperand x;
  RowPointer bias;
  PlainE4m3 out;
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t vectors;  // of a row
};

// kLanes threads a row, kVectors vectors each; a multiprocessor has 512 threads at the least, which
// leaves a thread registers enough for its values.
template <typename T, int kVectors, int kLanes>
__global__ void __launch_bounds__(kPlainThreads<kLanes>, 768 / kPlainThreads<kLanes>)
    GeluE4m3Rows(const __grid_constant__ GeluE4m3Params p) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kThreads = kPlainThreads<kLanes>;
  constexpr int kGroups = kThreads / kLanes;
  using Row = PlainRow<T, 0, kVectors, kLanes>;
  __shared__ unsigned scratch[kThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows;
      const int64_t row = active ? mine : first;
      uint4 x[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (vector < p.vectors) x[v] = Row::template At<Reuse::kStreamed>(p.x, outer, row, vector);
      }
      E4m3Part<kPer, kVectors, kLanes, 1> part;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (vector >= p.vectors) continue;
        auto& values = part.values[0][v];
        Unpack<T>(x[v], values);
        if (p.bias.data != nullptr) {
          float bias[kPer];
          LoadVector<T>(p.bias, int64_t{vector} * kPer, 0.0f, bias);
#pragma unroll
          for (int k = 0; k < kPer; ++k) values[k] += bias[k];
        }
#pragma unroll
        for (int k = 0; k < kPer; ++k) values[k] = Activated<Activation::kGeluTanh>(values[k]);
      }
      RowScale scales[1];
      part.Scales(p.out, p.vectors, lane, scratch, scales);
      if (active) part.Store(p.out, outer, row, p.vectors, lane, 0, scales[0]);
      if constexpr (kLanes > 32) {
        // The scratch has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

GeluE4m3Params PlainOf(const ActivationParams& p) {
  return {.x = PlainOf(p.shape, p.x),
          .bias = {static_cast<char*>(p.bias.data), 1, p.bias.dtype == Dtype::kF32},
          .out = PlainOf(p.shape, p.out, p.out_scale),
          .outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0],
          .inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1],
          .vectors = static_cast<int32_t>(p.shape.width * DtypeSize(p.x.dtype) / 16)};
}

template <typename T>
int32_t LaunchTyped(const GeluE4m3Params& params, cudaStream_t stream) {
  const auto launch = [&]<int kVectors, int kLanes>() {
    constexpr int kThreads = kPlainThreads<kLanes>;
    const dim3 grid(GridFor(params.inner_rows, kThreads / kLanes),
                    static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
    return LaunchVectorKernel<false>(GeluE4m3Rows<T, kVectors, kLanes>, params, grid, stream,
                                     kThreads);
  };
  if (params.vectors <= 128) return launch.template operator()<4, 32>();
  if (params.vectors <= 512) return launch.template operator()<4, 128>();
  if (params.vectors <= 1024) return launch.template operator()<4, 256>();
  if (params.vectors <= 2048) return launch.template operator()<4, 512>();
  return cudaErrorInvalidValue;
}

}  // namespace

int32_t LaunchActivationE4m3Sm80(const ActivationParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  const GeluE4m3Params plain = PlainOf(params);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) { return LaunchTyped<T>(plain, on); });
}

}  // namespace reel::kernels
