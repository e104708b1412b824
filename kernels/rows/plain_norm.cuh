// SPDX-License-Identifier: Apache-2.0
// The fused norm for calls as models make them: every vector in the rows' type, no biases, no
// unused part. A row then costs few instructions beside its memory traffic, and stays packed in
// registers between the statistic and the output. Other calls: fused_norm_row.cuh.
#pragma once

#include <iterator>
#include <type_traits>

#include "kernels/rows/plain_e4m3.cuh"
#include "kernels/rows/plain_int8.cuh"
#include "kernels/rows/plain_parts.cuh"
#include "kernels/rows/plain_row.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

// Rows in registers that will be codes.
template <unsigned kTo, int kPer, int kVectors, int kLanes, int kRows>
using CodesPart = std::conditional_t<kTo == kInt8, Int8Part<kPer, kVectors, kLanes, kRows>,
                                     E4m3Part<kPer, kVectors, kLanes, kRows>>;

// kLanes threads a row, kRows rows at once.
template <typename T, Statistic kStatistic, unsigned kParts, int kVectors, int kLanes, int kRows,
          bool kShared, bool kOverlap>
__global__ void __launch_bounds__(kPlainThreads<kLanes>)
    PlainNormRows(const __grid_constant__ PlainNormParams p) {
  constexpr int kThreads = kPlainThreads<kLanes>;
  constexpr int kGroups = kThreads / kLanes;
  using Row = PlainRow<T, kParts, kVectors, kLanes>;
  constexpr bool kEarly = kVectors <= ((kParts & kInt8) != 0 ? 4 : 2);
  using Vectors = BesideRows<Row, kVectors, kLanes, kRows, kShared, kEarly>;
  static_assert(kEarly || kRows == 1);
  __shared__ float scratch[2][kRows * kThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups * kRows;
  AwaitKernelAhead<kOverlap>();
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups * kRows; first < p.inner_rows;
         first += step) {
      Row rows[kRows];
      int64_t at[kRows];
      PlainPlace vectors[kRows];
      bool active[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        at[r] = first + r * kGroups + static_cast<int>(threadIdx.x) / kLanes;
        active[r] = at[r] < p.inner_rows;
        if (!active[r]) at[r] = first;
        vectors[r] = Row::VectorPlace(p, outer, at[r]);
        rows[r].Load(p, outer, at[r], vectors[r], lane);
      }
      Vectors beside;
      beside.Load(p, vectors, lane);
      LetNextKernelBegin<kOverlap>();
      RowStatistics statistics[kRows];
      if constexpr (kStatistic != Statistic::kNone) {
        PlainStatistics<kStatistic, kLanes>(p, rows, lane, scratch, statistics);
      }
      [[maybe_unused]] CodesPart<kParts & kCodes, Row::kPer, kVectors, kLanes, kRows> normed;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if constexpr (kVectors * kRows >= 4) rows[r].ForgetAll();
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const auto taken = beside.Take(p, vectors, r, v, lane);
          const int vector = v * kLanes + lane;
          if constexpr ((kParts & kCodes) != 0) {
            if (vector >= p.vectors) continue;
            rows[r].Combined(v, normed.values[r][v]);
            if constexpr ((kParts & kSum) != 0) {
              if (active[r]) Row::Store(p.sum, outer, at[r], vector, normed.values[r][v]);
            }
            Row::Norm(taken, statistics[r], normed.values[r][v]);
          } else {
            if (!active[r] || vector >= p.vectors) continue;
            rows[r].Emit(p, outer, at[r], vector, v, taken, statistics[r]);
          }
        }
      }
      if constexpr ((kParts & kCodes) != 0) {
        __shared__ unsigned largest[kRows * kThreads / 32];
        typename decltype(normed)::Scale scales[kRows];
        normed.Scales(p.codes, p.vectors, lane, largest, scales);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if (active[r]) normed.Store(p.codes, outer, at[r], p.vectors, lane, r, scales[r]);
        }
      }
      if constexpr (kLanes > 32 && kStatistic != Statistic::kNone) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

template <typename T, Statistic kStatistic, unsigned kParts, int kVectors, int kLanes, int kRows,
          bool kShared, bool kOverlap>
int32_t LaunchPlainRows(const PlainNormParams& params, cudaStream_t stream) {
  constexpr int kThreads = kPlainThreads<kLanes>;
  const dim3 grid(GridFor(params.inner_rows, kThreads / kLanes * kRows),
                  static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
  return LaunchVectorKernel<kOverlap>(
      PlainNormRows<T, kStatistic, kParts, kVectors, kLanes, kRows, kShared, kOverlap>, params,
      grid, stream, kThreads);
}

// Whether all rows of an outer one use the same vectors.
inline bool SharesVectors(const PlainNormParams& p) {
  return p.vector_of == nullptr && p.scale.inner == 0 && p.shift.inner == 0 && p.gate.inner == 0;
}

// Rows without vectors stay in one warp up to 3072 elements of 16 bits. Others have few vectors a
// thread, so that all loads are in flight together. Modulated ones go two to a block, which loads
// scale and shift once if they share them. The number of threads a row depends only on the operator
// and the width, so a row has the same bits however vectors are given.
template <typename T, Statistic kStatistic, unsigned kParts, bool kOverlap>
int32_t LaunchPlainNormTyped(const PlainNormParams& p, cudaStream_t on) {
  constexpr bool kModulated = (kParts & (kModulation | kOutputGate)) != 0;
  // An e4m3 row is also held in fp32, so it has few vectors a thread too.
  constexpr bool kWide = (kParts & kE4m3) != 0;
  constexpr bool kAlone =
      (kParts & (kResidual | kAffine | kModulation | kOutputGate)) == 0 && !kWide;
  constexpr int kPair = kModulated && (kParts & kResidual) == 0 ? 2 : 1;
  const auto launch = [&]<int kVectors, int kLanes, int kRows>() {
    if constexpr (kModulated) {
      if (!SharesVectors(p)) {
        return LaunchPlainRows<T, kStatistic, kParts, kVectors, kLanes, kRows, false, kOverlap>(p,
                                                                                                on);
      }
    }
    return LaunchPlainRows<T, kStatistic, kParts, kVectors, kLanes, kRows, true, kOverlap>(p, on);
  };
  if constexpr ((kParts & kInt8) != 0) {
    // A thread has a group, four vectors a quarter of the row apart.
    static_assert(std::size(kPlainInt8Widths) == 3 && kPerVector<T> == kTurnedRun);
    if (p.vectors == 4 * 32) return launch.template operator()<4, 32, 1>();
    if (p.vectors == 4 * 64) return launch.template operator()<4, 64, 1>();
    if (p.vectors == 4 * 128) return launch.template operator()<4, 128, 1>();
    return cudaErrorInvalidValue;
  } else {
    if (p.vectors <= 32) return launch.template operator()<1, 32, 2>();
    if (p.vectors <= 128) return launch.template operator()<4, 32, 1>();
    if constexpr (kAlone) {
      if (p.vectors <= 256) return launch.template operator()<8, 32, 1>();
      if (p.vectors <= 384) return launch.template operator()<12, 32, 1>();
      if (p.vectors <= 512) return launch.template operator()<4, 128, 1>();
    } else {
      if (p.vectors <= 256) return launch.template operator()<2, 128, kPair>();
      if (p.vectors <= 512) return launch.template operator()<2, 256, kPair>();
    }
    if constexpr (kWide) {
      return launch.template operator()<4, 256, 1>();
    } else {
      return launch.template operator()<8, 128, 1>();
    }
  }
}

template <Statistic kStatistic, unsigned kParts, bool kOverlap>
int32_t LaunchPlainNorm(const FusedNormParams& p, void* stream) {
  const auto of = [&](const RowOperand& operand) { return PlainOf(p.shape, operand); };
  const auto vector = [&](const RowOperand& operand) {
    if (p.vector_of == nullptr) return of(operand);
    return PlainOperand{static_cast<char*>(operand.data),
                        operand.strides[0] * DtypeSize(operand.dtype), 0};
  };
  PlainNormParams plain{};
  plain.x = of(p.x);
  plain.residual = of(p.residual);
  plain.residual_gate = vector(p.residual_gate);
  plain.weight = vector(p.weight);
  plain.bias = vector(p.bias);
  plain.scale = vector(p.scale);
  plain.shift = vector(p.shift);
  plain.gate = vector(p.gate);
  plain.sum = of(p.sum);
  plain.vector_of = p.vector_of;
  if constexpr ((kParts & kCodes) != 0) {
    plain.codes = PlainOf(p.shape, p.out, p.out_scale);
  } else {
    plain.out = of(p.out);
  }
  plain.outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0];
  plain.inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1];
  plain.vectors = static_cast<int32_t>(p.shape.width * DtypeSize(p.x.dtype) / 16);
  plain.inverse_width = 1.0f / static_cast<float>(p.shape.width);
  plain.eps = p.eps;
  if (p.shape.rows == 0 || p.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(p.x.dtype, [&]<typename T>(T) -> int32_t {
    if constexpr ((kParts & kInt8) != 0 && sizeof(T) != 2) {
      return cudaErrorInvalidValue;  // FusedNormInt8Accepts
    } else {
      return LaunchPlainNormTyped<T, kStatistic, kParts, kOverlap>(plain, on);
    }
  });
}

}  // namespace reel::kernels
