// SPDX-License-Identifier: Apache-2.0
// head_gate to e4m3 or int8 for rows of 16-byte vectors of one head each: a row stays in registers
// until its scale is known. Bound by memory: x is read once, a byte an element written. For .cu
// files.
#pragma once

#include "kernels/head_gate/head_gate_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

struct HeadGateCodesParams {
  PlainOperand x, logits;
  PlainCodes out;
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t vectors;       // of a row
  int32_t head_vectors;  // of a head
};

// kLanes threads a row, kVectors vectors each.
template <typename T, unsigned kTo, int kVectors, int kLanes, bool kOverlap>
__global__ void __launch_bounds__(kPlainThreads<kLanes>)
    HeadGateCodesRows(const __grid_constant__ HeadGateCodesParams p) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kThreads = kPlainThreads<kLanes>;
  constexpr int kGroups = kThreads / kLanes;
  using Row = PlainRow<T, 0, kVectors, kLanes>;
  using Part = CodesPart<kTo, kPer, kVectors, kLanes, 1>;
  __shared__ unsigned scratch[kThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  AwaitKernelAhead<kOverlap>();
  LetNextKernelBegin<kOverlap>();
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows;
      const int64_t row = active ? mine : first;
      const T* const logits =
          reinterpret_cast<const T*>(p.logits.data + outer * p.logits.outer + row * p.logits.inner);
      uint4 x[kVectors];
      float gates[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (vector >= p.vectors) continue;
        x[v] = Row::template At<Reuse::kStreamed>(p.x, outer, row, vector);
        gates[v] = ToFp32(logits[vector / p.head_vectors]);
      }
      Part part;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (v * kLanes + lane >= p.vectors) continue;
        const float gate = GateOf(gates[v]);
        auto& values = part.values[0][v];
        Unpack<T>(x[v], values);
#pragma unroll
        for (int k = 0; k < kPer; ++k) values[k] *= gate;
      }
      typename Part::Scale scales[1];
      part.Scales(p.out, p.vectors, lane, scratch, scales);
      if (active) part.Store(p.out, outer, row, p.vectors, lane, 0, scales[0]);
      if constexpr (kLanes > 32) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

template <typename T, unsigned kTo, bool kOverlap>
int32_t LaunchHeadGateCodesTyped(const HeadGateCodesParams& p, cudaStream_t stream) {
  const auto launch = [&]<int kVectors, int kLanes>() {
    constexpr int kThreads = kPlainThreads<kLanes>;
    const dim3 grid(GridFor(p.inner_rows, kThreads / kLanes),
                    static_cast<unsigned>(std::min<int64_t>(p.outer_rows, 65535)));
    return LaunchVectorKernel<kOverlap>(HeadGateCodesRows<T, kTo, kVectors, kLanes, kOverlap>, p,
                                        grid, stream, kThreads);
  };
  if constexpr (kTo == kInt8) {
    // A thread has a group, four vectors a quarter of the row apart.
    if (p.vectors == 4 * 32) return launch.template operator()<4, 32>();
    if (p.vectors == 4 * 64) return launch.template operator()<4, 64>();
    if (p.vectors == 4 * 128) return launch.template operator()<4, 128>();
    return cudaErrorInvalidValue;
  } else {
    if (p.vectors <= 128) return launch.template operator()<4, 32>();
    if (p.vectors <= 512) return launch.template operator()<4, 128>();
    return launch.template operator()<4, 256>();
  }
}

// `kTo` is kE4m3 or kInt8.
template <unsigned kTo, bool kOverlap>
int32_t LaunchHeadGateCodes(const HeadGateParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const int64_t element = DtypeSize(params.x.dtype);
  const HeadGateCodesParams plain = {
      .x = PlainOf(params.shape, params.x),
      .logits = PlainOf(params.shape, params.logits),
      .out = PlainOf(params.shape, params.out, params.out_scale),
      .outer_rows = params.shape.dims < 2 ? 1 : params.shape.sizes[0],
      .inner_rows = params.shape.dims < 2 ? params.shape.rows : params.shape.sizes[1],
      .vectors = static_cast<int32_t>(params.shape.width * element / 16),
      .head_vectors = static_cast<int32_t>(params.head_width * element / 16)};
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) -> int32_t {
    if constexpr (kTo == kInt8 && sizeof(T) != 2) {
      return cudaErrorInvalidValue;  // HeadGateInt8Accepts
    } else {
      return LaunchHeadGateCodesTyped<T, kTo, kOverlap>(plain, on);
    }
  });
}

}  // namespace reel::kernels
