// SPDX-License-Identifier: Apache-2.0
// The tuned kernels of row operators (row_kernels.cuh) for contiguous rows of 16-byte vectors:
// FitsVectorRows, FitsVectorElements. For .cu files.
#pragma once

#include "kernels/cuda/overlap.cuh"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

inline constexpr int kVectorThreads = 128;

// Threads of a block of plain rows with kLanes threads each.
template <int kLanes>
inline constexpr int kPlainThreads = kLanes > kVectorThreads ? kLanes : kVectorThreads;

// kLanes threads a row, which they hold in registers, kVectors vectors each; kRows rows at once
// where a row is short, so that enough loads are in flight.
template <typename T, typename Op, int kVectors, int kLanes, int kRows, bool kOverlap>
__global__ void __launch_bounds__(kVectorThreads) VectorRows(const __grid_constant__ Op op) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kGroups = kVectorThreads / kLanes;
  // Vectors beside the rows are loaded before the statistic if registers allow.
  constexpr bool kEarly = kVectors <= 3 && kRows == 1;
  static_assert(kLanes <= 32 || kRows == 1);
  __shared__ float scratch[2][kVectorThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const RowShape& shape = op.shape();
  const auto vectors = static_cast<int>(shape.width / kPer);
  AwaitKernelAhead<kOverlap>();
  for (int64_t first = int64_t{blockIdx.x} * kGroups * kRows; first < shape.rows;
       first += int64_t{gridDim.x} * kGroups * kRows) {
    typename Op::Row row[kRows];
    typename Op::template Beside<kPer> beside[kRows][kEarly ? kVectors : 1];
    float values[kRows][kVectors][kPer];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int64_t index = first + r * kGroups + group;
      row[r] = op.At(index < shape.rows ? index : first);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (v * kLanes + lane < vectors) {
          op.template Load<T>(row[r], (v * kLanes + lane) * kPer, values[r][v]);
        }
      }
    }
    LetNextKernelBegin<kOverlap>();
    if constexpr (kEarly) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (v * kLanes + lane < vectors) {
          op.template LoadBeside<T>(row[0], (v * kLanes + lane) * kPer, beside[0][v]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const auto each = [&](auto term) {
        float sum = 0;
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          if (v * kLanes + lane < vectors) {
#pragma unroll
            for (int k = 0; k < kPer; ++k) sum += term(values[r][v][k]);
          }
        }
        return sum;
      };
      const RowStatistics statistics = StatisticsOf<Op::kStatistic>(
          shape.width, op.eps(), each,
          [&](float part, int k) { return GroupSum<kLanes>(part, scratch[k]); });
      const bool active = first + r * kGroups + group < shape.rows;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (active && v * kLanes + lane < vectors) {
          const int64_t i = (v * kLanes + lane) * kPer;
          if constexpr (!kEarly) op.template LoadBeside<T>(row[r], i, beside[r][0]);
          op.template Emit<T>(row[r], i, values[r][v], beside[r][kEarly ? v : 0], statistics);
        }
      }
    }
    if constexpr (kLanes > 32) {
      // The scratch of the previous reduction has been read.
      if (first + int64_t{gridDim.x} * kGroups * kRows < shape.rows) __syncthreads();
    }
  }
}

// Operators without a statistic: a block handles kVectors * kVectorThreads vectors of a row.
template <typename T, typename Op, int kVectors, bool kOverlap>
__global__ void __launch_bounds__(kVectorThreads) VectorElements(const __grid_constant__ Op op) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kSpan = kVectors * kVectorThreads;
  const int64_t vectors = op.shape().width / kPer;
  const int64_t spans = (vectors + kSpan - 1) / kSpan;
  const int64_t jobs = op.shape().rows * spans;
  AwaitKernelAhead<kOverlap>();
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    const int64_t index = Quotient(job, spans);
    const int64_t first = (job - index * spans) * kSpan + threadIdx.x;
    const auto row = op.At(index);
    float values[kVectors][kPer];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int64_t vector = first + v * kVectorThreads;
      if (vector < vectors) op.template Load<T>(row, vector * kPer, values[v]);
    }
    LetNextKernelBegin<kOverlap>();
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int64_t vector = first + v * kVectorThreads;
      if (vector >= vectors) continue;
      typename Op::template Beside<kPer> beside;
      op.template LoadBeside<T>(row, vector * kPer, beside);
      op.template Emit<T>(row, vector * kPer, values[v], beside, RowStatistics{0, 1});
    }
  }
}

template <bool kOverlap, typename Kernel, typename Params>
int32_t LaunchVectorKernel(Kernel kernel, const Params& params, dim3 grid, cudaStream_t stream,
                           int threads = kVectorThreads) {
  return LaunchKernel<kOverlap>({.blocks = grid, .threads = threads, .stream = stream}, kernel,
                                params);
}

template <typename T, int kVectors, int kLanes, int kRows, bool kOverlap, typename Op>
int32_t LaunchRowsOf(const Op& op, cudaStream_t stream) {
  constexpr int64_t kRowsPerBlock = kVectorThreads / kLanes * kRows;
  return LaunchVectorKernel<kOverlap>(VectorRows<T, Op, kVectors, kLanes, kRows, kOverlap>, op,
                                      GridFor(op.shape().rows, kRowsPerBlock), stream);
}

template <typename T, bool kOverlap, typename Op>
int32_t LaunchVectorRowsTyped(const Op& op, cudaStream_t stream) {
  const int64_t vectors = op.shape().width / kPerVector<T>;
  if constexpr (Op::kStatistic == Statistic::kNone) {
    constexpr int kVectors = 2;
    constexpr int64_t kSpan = kVectors * kVectorThreads;
    return LaunchVectorKernel<kOverlap>(
        VectorElements<T, Op, kVectors, kOverlap>, op,
        GridFor(op.shape().rows * ((vectors + kSpan - 1) / kSpan), 1), stream);
  } else {
    if (vectors <= 32) return LaunchRowsOf<T, 1, 32, 2, kOverlap>(op, stream);
    if (vectors <= 128) return LaunchRowsOf<T, 4, 32, 1, kOverlap>(op, stream);
    if (vectors <= 512) return LaunchRowsOf<T, 4, 128, 1, kOverlap>(op, stream);
    if (vectors <= 1024) return LaunchRowsOf<T, 8, 128, 1, kOverlap>(op, stream);
    return cudaErrorInvalidValue;
  }
}

template <bool kOverlap, typename Op>
int32_t LaunchVectorRows(const Op& op, void* stream) {
  if (op.shape().rows == 0 || op.shape().width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(op.dtype(),
                        [&]<typename T>(T) { return LaunchVectorRowsTyped<T, kOverlap>(op, on); });
}

}  // namespace reel::kernels
