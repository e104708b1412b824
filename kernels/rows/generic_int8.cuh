// SPDX-License-Identifier: Apache-2.0
// GenericRows (row_kernels.cuh) for calls whose output is int8 (int8_layout.h). For .cu files.
// An operator has beside it what generic_e4m3.cuh asks for.
#pragma once

#include "kernels/rows/int8_device.cuh"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

// One block a row; any width of whole groups, strides and alignment. A thread computes a group
// twice, in the same way: for the row's largest value, and for its codes.
template <typename T, typename Op>
__global__ void __launch_bounds__(kGenericThreads) GenericInt8Rows(const __grid_constant__ Op op) {
  static_assert(Op::kRun == 1);
  __shared__ float scratch[2][kGenericThreads / 32];
  __shared__ unsigned largest_scratch[kGenericThreads / 32];
  const RowShape& shape = op.shape();
  const int64_t quarter = shape.width / kQuarters;
  for (int64_t index = blockIdx.x; index < shape.rows; index += gridDim.x) {
    const auto row = op.At(index);
    const RowStatistics statistics = BlockStatistics<T>(op, row, scratch);
    const auto turned = [&](int64_t first, bool last_time, float(&group)[kTurned]) {
#pragma unroll 1
      for (int i = 0; i < kTurned; ++i) {
        const int64_t at = (i / kTurnedRun) * quarter + first + i % kTurnedRun;
        float value[1];
        op.template Load<T>(row, at, value);
        if (last_time) op.template StoreSum<T>(row, at, value);
        typename Op::template Beside<1> beside;
        op.template LoadBeside<T>(row, at, beside);
        op.template Finish<T>(row, at, value, beside, statistics);
        group[i] = value[0];
      }
      Turn(group);
    };
    constexpr int64_t kStep = int64_t{kGenericThreads} * kTurnedRun;
    float group[kTurned];
    unsigned largest = 0;
    for (int64_t first = int64_t{threadIdx.x} * kTurnedRun; first < quarter; first += kStep) {
      turned(first, false, group);
      largest = max(largest, LargestOf(group));
    }
    const Int8Scale scale = Int8ScaleOf(GroupMax<kGenericThreads>(largest, largest_scratch));
    const RowPlace place = PlaceOf(shape, index);
    auto* out = static_cast<int8_t*>(op.p.out.data) + OffsetAt(shape, op.p.out, place);
    for (int64_t first = int64_t{threadIdx.x} * kTurnedRun; first < quarter; first += kStep) {
      turned(first, true, group);
      for (int i = 0; i < kTurned; ++i) {
        out[((i / kTurnedRun) * quarter + first + i % kTurnedRun) * op.p.out.inner] =
            static_cast<int8_t>(Int8Bits(group[i], scale.codes_of_one));
      }
    }
    if (threadIdx.x == 0) {
      static_cast<float*>(op.p.out_scale.rows.data)[OffsetAt(shape, op.p.out_scale.rows, place)] =
          scale.scale;
    }
    __syncthreads();  // the scratch of the previous reduction has been read
  }
}

template <typename Op>
int32_t LaunchGenericInt8(const Op& op, void* stream) {
  return LaunchBlockARow(op, stream, []<typename T>(T) { return GenericInt8Rows<T, Op>; });
}

}  // namespace reel::kernels
