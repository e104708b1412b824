// SPDX-License-Identifier: Apache-2.0
// The fused norm for calls as models make them: every vector of the rows' type, nothing added to
// it, no part that is not used. Then a row costs few instructions beside its memory traffic, and
// stays packed in registers between the statistic and the output. Other calls: fused_norm_row.cuh.
#pragma once

#include "kernels/rows/plain_row.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

template <Statistic kStatistic, int kLanes, typename Row>
__device__ inline RowStatistics PlainStatistics(const PlainNormParams& p, const Row& row, int lane,
                                                float (*scratch)[kVectorThreads / 32]) {
  RowStatistics statistics{0, 1};
  if constexpr (kStatistic == Statistic::kNone) return statistics;
  if constexpr (kStatistic == Statistic::kVariance) {
    const float sum = row.Sum(p.vectors, lane, [](float value) { return value; });
    statistics.mean = GroupSum<kLanes>(sum, scratch[0]) * p.inverse_width;
  }
  const float mean = statistics.mean;
  const float squares = row.Sum(p.vectors, lane, [mean](float value) {
    return kStatistic == Statistic::kVariance ? (value - mean) * (value - mean) : value * value;
  });
  statistics.rstd = rsqrtf(GroupSum<kLanes>(squares, scratch[1]) * p.inverse_width + p.eps);
  return statistics;
}

// kLanes threads a row; the vectors beside it are fetched one ahead of their use, the first ones
// before the statistic.
template <typename T, Statistic kStatistic, unsigned kParts, int kVectors, int kLanes, int kRows,
          bool kOverlap>
__global__ void __launch_bounds__(kVectorThreads)
    PlainNormRows(const __grid_constant__ PlainNormParams p) {
  constexpr int kGroups = kVectorThreads / kLanes;
  using Row = PlainRow<T, kParts, kVectors, kLanes>;
  static_assert(kLanes <= 32 || kRows == 1);
  __shared__ float scratch[2][kVectorThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups * kRows;
  AwaitKernelAhead<kOverlap>();
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups * kRows; first < p.inner_rows;
         first += step) {
      Row rows[kRows];
      int64_t at[kRows];
      bool active[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        at[r] = first + r * kGroups + static_cast<int>(threadIdx.x) / kLanes;
        active[r] = at[r] < p.inner_rows;
        if (!active[r]) at[r] = first;
        rows[r].Load(p, outer, at[r], lane);
      }
      LetNextKernelBegin<kOverlap>();
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        auto next = Row::LoadBeside(p, outer, at[r], lane);
        const RowStatistics statistics =
            PlainStatistics<kStatistic, kLanes>(p, rows[r], lane, scratch);
        if constexpr (kVectors >= 4) rows[r].ForgetAll();
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const auto beside = next;
          const int vector = v * kLanes + lane;
          if (v + 1 < kVectors) next = Row::LoadBeside(p, outer, at[r], vector + kLanes);
          if (!active[r] || vector >= p.vectors) continue;
          rows[r].Emit(p, outer, at[r], vector, v, beside, statistics);
        }
      }
      if constexpr (kLanes > 32 && kStatistic != Statistic::kNone) __syncthreads();  // scratch read
    }
  }
}

template <typename T, Statistic kStatistic, unsigned kParts, int kVectors, int kLanes, int kRows,
          bool kOverlap>
int32_t LaunchPlainRows(const PlainNormParams& params, cudaStream_t stream) {
  constexpr int64_t kRowsPerBlock = kVectorThreads / kLanes * kRows;
  const dim3 grid(GridFor(params.inner_rows, kRowsPerBlock),
                  static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
  return LaunchVectorKernel<kOverlap>(
      PlainNormRows<T, kStatistic, kParts, kVectors, kLanes, kRows, kOverlap>, params, grid,
      stream);
}

// Parts that read several tensors have many loads in flight with few vectors a thread; the others
// keep a row of up to 3072 elements of 16 bits in one warp.
template <typename T, Statistic kStatistic, unsigned kParts, bool kOverlap>
int32_t LaunchPlainNormTyped(const PlainNormParams& p, cudaStream_t on) {
  constexpr bool kWide = (kParts & kResidual) != 0;
  const auto launch = [&]<int kVectors, int kLanes, int kRows>() {
    return LaunchPlainRows<T, kStatistic, kParts, kVectors, kLanes, kRows, kOverlap>(p, on);
  };
  if (p.vectors <= 32) return launch.template operator()<1, 32, 2>();
  if (p.vectors <= 128) return launch.template operator()<4, 32, 1>();
  if constexpr (kWide) {
    if (p.vectors <= 256) return launch.template operator()<2, 128, 1>();
    if (p.vectors <= 384) return launch.template operator()<3, 128, 1>();
  } else {
    if (p.vectors <= 256) return launch.template operator()<8, 32, 1>();
    if (p.vectors <= 384) return launch.template operator()<12, 32, 1>();
  }
  if (p.vectors <= 512) return launch.template operator()<4, 128, 1>();
  return launch.template operator()<8, 128, 1>();
}

// Whether a call that FitsVectorRows has exactly these parts, in the rows' type.
inline bool HasPlainParts(const FusedNormParams& p, unsigned parts) {
  const auto fits = [&](const RowOperand& operand, unsigned part) {
    const bool there = operand.data != nullptr;
    return there == ((parts & part) != 0) && (!there || operand.dtype == p.x.dtype);
  };
  const bool nothing_added = p.residual_gate_bias.data == nullptr && p.bias.data == nullptr &&
                             p.scale_bias.data == nullptr && p.shift_bias.data == nullptr &&
                             p.gate_bias.data == nullptr;
  return nothing_added && p.shape.width * DtypeSize(p.x.dtype) <= 16384 &&
         fits(p.residual, kResidual) && fits(p.residual_gate, kResidualGate) &&
         fits(p.weight, kAffine) && fits(p.scale, kModulation) && fits(p.shift, kModulation) &&
         fits(p.gate, kOutputGate) && fits(p.sum, kSum) && fits(p.out, kNormed);
}

template <Statistic kStatistic, unsigned kParts, bool kOverlap>
int32_t LaunchPlainNorm(const FusedNormParams& p, void* stream) {
  const auto of = [&](const RowOperand& operand) { return PlainOf(p.shape, operand); };
  PlainNormParams plain{};
  plain.x = of(p.x);
  plain.residual = of(p.residual);
  plain.residual_gate = of(p.residual_gate);
  plain.weight = of(p.weight);
  plain.scale = of(p.scale);
  plain.shift = of(p.shift);
  plain.gate = of(p.gate);
  plain.sum = of(p.sum);
  plain.out = of(p.out);
  plain.outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0];
  plain.inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1];
  plain.vectors = static_cast<int32_t>(p.shape.width * DtypeSize(p.x.dtype) / 16);
  plain.inverse_width = 1.0f / static_cast<float>(p.shape.width);
  plain.eps = p.eps;
  if (p.shape.rows == 0 || p.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(p.x.dtype, [&]<typename T>(T) {
    return LaunchPlainNormTyped<T, kStatistic, kParts, kOverlap>(plain, on);
  });
}

// A call of an operator (a FusedNormRow): plain without its affine part or with the weight alone,
// else by the general kernel.
template <typename Op, bool kOverlap>
int32_t LaunchFusedNorm(const FusedNormParams& params, void* stream) {
  constexpr Statistic kStatistic = Op::kStatistic;
  constexpr unsigned kParts = Op::kPartsOf;
  constexpr unsigned kWithout = kParts & ~kAffine;
  if (HasPlainParts(params, kWithout)) {
    return LaunchPlainNorm<kStatistic, kWithout, kOverlap>(params, stream);
  }
  // Norms with a weight are common; modulated ones have none in any model here.
  if constexpr (kStatistic == Statistic::kMeanSquare && (kParts & kAffine) != 0 &&
                (kParts & kModulation) == 0) {
    if (HasPlainParts(params, kParts)) {
      return LaunchPlainNorm<kStatistic, kParts, kOverlap>(params, stream);
    }
  }
  return LaunchVectorRows<kOverlap>(Op{params}, stream);
}

}  // namespace reel::kernels
