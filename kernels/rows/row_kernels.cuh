// SPDX-License-Identifier: Apache-2.0
// Row operators on a device, and the kernel that takes any of their calls. For .cu files.
//
// An operator is a struct `Op` with its parameters and
//   static constexpr Statistic kStatistic;
//   const RowShape& shape() const;  Dtype dtype() const;  float eps() const;
//   struct Row;  Row At(int64_t row) const;              pointers to one row of every operand
//   static constexpr int kRun;  elements that GenericRows handles together; divides the width
//   template <int n> struct Beside;                      fp32 values of vectors beside the rows
//   template <T, n> void Load(const Row&, int64_t i, float (&values)[n]) const;
//   template <T, n> void LoadBeside(const Row&, int64_t i, Beside<n>&) const;
//   template <T, n> void Emit(const Row&, int64_t i, float (&values)[n], const Beside<n>&,
//                             const RowStatistics&) const;
// Load gives the fp32 values that the statistic is taken of, Emit turns them into the outputs. What
// LoadBeside reads can be on its way while the statistic is taken.
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

// `each(term)` sums a term over this thread's elements; `sum(part, k)` sums over all threads of the
// row, where k counts the sums.
template <Statistic kStatistic, typename Each, typename Sum>
__device__ inline RowStatistics StatisticsOf(int64_t width, float eps, const Each& each,
                                             const Sum& sum) {
  RowStatistics statistics{0, 1};
  if constexpr (kStatistic == Statistic::kNone) return statistics;
  const float count = static_cast<float>(width);
  if constexpr (kStatistic == Statistic::kVariance) {
    statistics.mean = sum(each([](float value) { return value; }), 0) / count;
  }
  const float mean = statistics.mean;
  const auto square = [mean](float value) { return (value - mean) * (value - mean); };
  statistics.rstd = rsqrtf(sum(each(square), 1) / count + eps);
  return statistics;
}

// A row that a block handles.
template <typename T, typename Op>
__device__ inline RowStatistics BlockStatistics(const Op& op, const typename Op::Row& row,
                                                float (&scratch)[2][kGenericThreads / 32]) {
  constexpr int kRun = Op::kRun;
  const int64_t width = op.shape().width;
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
  return StatisticsOf<Op::kStatistic>(width, op.eps(), each, [&](float part, int k) {
    return GroupSum<kGenericThreads>(part, scratch[k]);
  });
}

// One block a row; any width, strides and alignment. Reads the row again for each pass.
template <typename T, typename Op>
__global__ void __launch_bounds__(kGenericThreads) GenericRows(const __grid_constant__ Op op) {
  constexpr int kRun = Op::kRun;
  __shared__ float scratch[2][kGenericThreads / 32];
  const int64_t width = op.shape().width;
  for (int64_t index = blockIdx.x; index < op.shape().rows; index += gridDim.x) {
    const auto row = op.At(index);
    const RowStatistics statistics = BlockStatistics<T>(op, row, scratch);
    for (int64_t i = threadIdx.x * kRun; i < width; i += kGenericThreads * kRun) {
      float values[kRun];
      typename Op::template Beside<kRun> beside;
      op.template Load<T>(row, i, values);
      op.template LoadBeside<T>(row, i, beside);
      op.template Emit<T>(row, i, values, beside, statistics);
    }
    if constexpr (Op::kStatistic != Statistic::kNone) __syncthreads();  // the scratch has been read
  }
}

inline unsigned GridFor(int64_t rows, int64_t rows_per_block) {
  return static_cast<unsigned>(
      std::min<int64_t>((rows + rows_per_block - 1) / rows_per_block, 0x7fffffff));
}

// Launches a block a row, with the kernel that `kernel_of` returns for a value of the rows' type.
template <typename Op, typename KernelOf>
int32_t LaunchBlockARow(const Op& op, void* stream, const KernelOf& kernel_of) {
  if (op.shape().rows == 0 || op.shape().width == 0) return cudaSuccess;
  const unsigned grid = GridFor(op.shape().rows, 1);
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(op.dtype(), [&](auto type) {
    kernel_of(type)<<<grid, kGenericThreads, 0, on>>>(op);
    return cudaGetLastError();
  });
}

template <typename Op>
int32_t LaunchGenericRows(const Op& op, void* stream) {
  return LaunchBlockARow(op, stream, []<typename T>(T) { return GenericRows<T, Op>; });
}

}  // namespace reel::kernels
