// SPDX-License-Identifier: Apache-2.0
// The two kernels that all row operators run through, and their launchers. For .cu files.
//
// An operator is a struct `Op` with its parameters and
//   static constexpr Statistic kStatistic;
//   const RowShape& shape() const;  Dtype dtype() const;  float eps() const;
//   struct Row;  Row At(int64_t row) const;              pointers to one row of every operand
//   static constexpr int kRun;  elements that GenericRows handles together; divides the width
//   template <T, n> void Load(const Row&, int64_t i, float (&values)[n]) const;
//   template <T, n> void Emit(const Row&, int64_t i, float (&values)[n], RowStatistics) const;
// Load gives the fp32 values that the statistic is taken of, Emit turns them into the outputs.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

struct RowStatistics {
  float mean;
  float rstd;
};

inline constexpr int kGenericThreads = 256;
inline constexpr int kVectorThreads = 128;

// `term` over the row, summed; each thread of the block (or group) brings its part.
template <Statistic kStatistic, typename Each, typename Sum>
__device__ inline RowStatistics StatisticsOf(int64_t width, float eps, const Each& each,
                                             const Sum& sum) {
  RowStatistics statistics{0, 1};
  if constexpr (kStatistic == Statistic::kNone) return statistics;
  const float inverse_of = static_cast<float>(width);
  if constexpr (kStatistic == Statistic::kVariance) {
    statistics.mean = sum(each([](float value) { return value; })) / inverse_of;
  }
  const float mean = statistics.mean;
  const float squares = sum(each([mean](float value) { return (value - mean) * (value - mean); }));
  statistics.rstd = rsqrtf(squares / inverse_of + eps);
  return statistics;
}

// One block a row; any width, strides and alignment. Reads the row again for each pass.
template <typename T, typename Op>
__global__ void __launch_bounds__(kGenericThreads) GenericRows(const __grid_constant__ Op op) {
  constexpr int kWarps = kGenericThreads / 32;
  constexpr int kRun = Op::kRun;
  __shared__ float scratch[kWarps];
  const int64_t width = op.shape().width;
  for (int64_t index = blockIdx.x; index < op.shape().rows; index += gridDim.x) {
    const auto row = op.At(index);
    const auto each = [&](auto term) {
      float sum = 0;
      for (int64_t i = threadIdx.x * kRun; i < width; i += kGenericThreads * kRun) {
        float values[kRun];
        op.template Load<T>(row, i, values);
#pragma unroll
        for (int k = 0; k < kRun; ++k) sum += term(values[k]);
      }
      return sum;
    };
    const RowStatistics statistics = StatisticsOf<Op::kStatistic>(
        width, op.eps(), each, [&](float part) { return GroupSum<kWarps>(part, scratch); });
    for (int64_t i = threadIdx.x * kRun; i < width; i += kGenericThreads * kRun) {
      float values[kRun];
      op.template Load<T>(row, i, values);
      op.template Emit<T>(row, i, values, statistics);
    }
  }
}

// kWarps warps a row, the row in registers, kVectors loads of 16 bytes a lane. kOverlap: starts
// before the kernel ahead of it has ended, and waits before it touches memory (sm_90).
template <typename T, typename Op, int kVectors, int kWarps, bool kOverlap>
__global__ void __launch_bounds__(kVectorThreads) VectorRows(const __grid_constant__ Op op) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kRowsPerBlock = kVectorThreads / 32 / kWarps;
  constexpr int kStep = 32 * kWarps;
  __shared__ float scratch[kVectorThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kStep;
  const int64_t vectors = op.shape().width / kPer;
#if __CUDA_ARCH__ >= 900
  if constexpr (kOverlap) cudaGridDependencySynchronize();
#endif
  for (int64_t first = int64_t{blockIdx.x} * kRowsPerBlock; first < op.shape().rows;
       first += int64_t{gridDim.x} * kRowsPerBlock) {
    const int64_t index = first + threadIdx.x / kStep;
    const bool active = index < op.shape().rows;
    const auto row = op.At(active ? index : first);
    float values[kVectors][kPer];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (v * kStep + lane < vectors) {
        op.template Load<T>(row, (v * kStep + lane) * kPer, values[v]);
      }
    }
    const auto each = [&](auto term) {
      float sum = 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (v * kStep + lane < vectors) {
#pragma unroll
          for (int k = 0; k < kPer; ++k) sum += term(values[v][k]);
        }
      }
      return sum;
    };
    const RowStatistics statistics =
        StatisticsOf<Op::kStatistic>(op.shape().width, op.eps(), each,
                                     [&](float part) { return GroupSum<kWarps>(part, scratch); });
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (active && v * kStep + lane < vectors) {
        op.template Emit<T>(row, (v * kStep + lane) * kPer, values[v], statistics);
      }
    }
  }
#if __CUDA_ARCH__ >= 900
  if constexpr (kOverlap) cudaTriggerProgrammaticLaunchCompletion();
#endif
}

inline unsigned GridFor(int64_t rows, int64_t rows_per_block) {
  return static_cast<unsigned>(
      std::min<int64_t>((rows + rows_per_block - 1) / rows_per_block, 0x7fffffff));
}

template <typename Op>
int32_t LaunchGenericRows(const Op& op, void* stream) {
  if (op.shape().rows == 0 || op.shape().width == 0) return cudaSuccess;
  const unsigned grid = GridFor(op.shape().rows, 1);
  const auto on = static_cast<cudaStream_t>(stream);
  switch (op.dtype()) {
    case Dtype::kF16:
      GenericRows<__half><<<grid, kGenericThreads, 0, on>>>(op);
      break;
    case Dtype::kBf16:
      GenericRows<__nv_bfloat16><<<grid, kGenericThreads, 0, on>>>(op);
      break;
    case Dtype::kF32:
      GenericRows<float><<<grid, kGenericThreads, 0, on>>>(op);
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}

template <typename T, int kVectors, int kWarps, bool kOverlap, typename Op>
int32_t LaunchVectorRowsOf(const Op& op, cudaStream_t stream) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(GridFor(op.shape().rows, kVectorThreads / 32 / kWarps));
  config.blockDim = dim3(kVectorThreads);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = kOverlap ? 1 : 0;
  const cudaError_t error =
      cudaLaunchKernelEx(&config, VectorRows<T, Op, kVectors, kWarps, kOverlap>, op);
  const cudaError_t last = cudaGetLastError();
  return error != cudaSuccess ? error : last;
}

// One warp up to 12 vectors a lane (3072 elements of 16 bits), then four.
template <typename T, bool kOverlap, typename Op>
int32_t LaunchVectorRowsTyped(const Op& op, cudaStream_t stream) {
  const int64_t vectors = op.shape().width / kPerVector<T>;
  if (vectors <= 1 * 32) return LaunchVectorRowsOf<T, 1, 1, kOverlap>(op, stream);
  if (vectors <= 8 * 32) return LaunchVectorRowsOf<T, 8, 1, kOverlap>(op, stream);
  if (vectors <= 12 * 32) return LaunchVectorRowsOf<T, 12, 1, kOverlap>(op, stream);
  if (vectors <= 8 * 128) return LaunchVectorRowsOf<T, 8, 4, kOverlap>(op, stream);
  return cudaErrorInvalidValue;
}

template <bool kOverlap, typename Op>
int32_t LaunchVectorRows(const Op& op, void* stream) {
  if (op.shape().rows == 0 || op.shape().width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  switch (op.dtype()) {
    case Dtype::kF16:
      return LaunchVectorRowsTyped<__half, kOverlap>(op, on);
    case Dtype::kBf16:
      return LaunchVectorRowsTyped<__nv_bfloat16, kOverlap>(op, on);
    case Dtype::kF32:
      return LaunchVectorRowsTyped<float, kOverlap>(op, on);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace reel::kernels
