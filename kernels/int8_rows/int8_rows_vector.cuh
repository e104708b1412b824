// SPDX-License-Identifier: Apache-2.0
// int8_rows over rows of 16-byte vectors, read once (Int8RowsVectorAccepts): a thread holds one
// group of 32 elements in registers and rotates it alone. For .cu files.
#pragma once

#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/int8_device.cuh"
#include "kernels/rows/plain_row.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

struct PlainInt8Params {
  PlainOperand x, out, scale;
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t quarter;  // elements
};

// kLanes threads a row.
template <typename T, int kLanes, bool kGelu, bool kOverlap>
__global__ void __launch_bounds__(kPlainThreads<kLanes>)
    Int8OfVectors(const __grid_constant__ PlainInt8Params p) {
  constexpr int kThreads = kPlainThreads<kLanes>;
  constexpr int kGroups = kThreads / kLanes;
  __shared__ unsigned scratch[kThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool has_group = lane * kTurnedRun < p.quarter;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  AwaitKernelAhead<kOverlap>();
  LetNextKernelBegin<kOverlap>();
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows && has_group;
      const int64_t row = mine < p.inner_rows ? mine : first;
      const auto* x = reinterpret_cast<const T*>(p.x.data + outer * p.x.outer + row * p.x.inner) +
                      lane * kTurnedRun;
      float values[kTurned] = {};
      if (active) {
#pragma unroll
        for (int q = 0; q < kQuarters; ++q) {
          LoadRun<T, Reuse::kStreamed>(
              x + q * p.quarter, reinterpret_cast<float(&)[kTurnedRun]>(values[q * kTurnedRun]));
        }
        if constexpr (kGelu) {
#pragma unroll
          for (int i = 0; i < kTurned; ++i) values[i] = GeluTanh(values[i]);
        }
        Turn(values);
      }
      const Int8Scale scale = Int8ScaleOf(GroupMax<kLanes>(LargestOf(values), scratch));
      if (active) {
        StoreInt8(p.out.data + outer * p.out.outer + row * p.out.inner + lane * kTurnedRun,
                  p.quarter, values, scale.codes_of_one);
        if (lane == 0) {
          *reinterpret_cast<float*>(p.scale.data + outer * p.scale.outer + row * p.scale.inner) =
              scale.scale;
        }
      }
      if constexpr (kLanes > 32) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

template <typename T, bool kGelu, bool kOverlap>
int32_t LaunchInt8RowsTyped(const PlainInt8Params& params, cudaStream_t stream) {
  const auto launch = [&]<int kLanes>() {
    constexpr int kThreads = kPlainThreads<kLanes>;
    const dim3 grid(GridFor(params.inner_rows, kThreads / kLanes),
                    static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
    return LaunchVectorKernel<kOverlap>(Int8OfVectors<T, kLanes, kGelu, kOverlap>, params, grid,
                                        stream, kThreads);
  };
  const int groups = params.quarter / kTurnedRun;
  if (groups <= 32) return launch.template operator()<32>();
  if (groups <= 64) return launch.template operator()<64>();
  if (groups <= 128) return launch.template operator()<128>();
  if (groups <= 256) return launch.template operator()<256>();
  if (groups <= 512) return launch.template operator()<512>();
  return cudaErrorInvalidValue;
}

template <bool kOverlap>
int32_t LaunchInt8RowsVector(const Int8RowsParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  const PlainInt8Params plain = {
      .x = PlainOf(params.shape, params.x),
      .out = PlainOf(params.shape, params.out),
      .scale = PlainOf(params.shape, params.scale),
      .outer_rows = params.shape.dims < 2 ? 1 : params.shape.sizes[0],
      .inner_rows = params.shape.dims < 2 ? params.shape.rows : params.shape.sizes[1],
      .quarter = static_cast<int32_t>(params.shape.width / kQuarters)};
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) {
    return params.gelu ? LaunchInt8RowsTyped<T, true, kOverlap>(plain, on)
                       : LaunchInt8RowsTyped<T, false, kOverlap>(plain, on);
  });
}

}  // namespace reel::kernels
