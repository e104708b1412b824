// SPDX-License-Identifier: Apache-2.0
// GenericRows (row_kernels.cuh) for calls whose output is e4m3. For .cu files.
//
// An operator has beside what row_kernels.cuh asks for
//   RowOperand out;  CodeScale out_scale;  of its parameters `p`
//   template <T, n> void Finish(const Row&, int64_t i, float (&values)[n], const Beside<n>&,
//                               const RowStatistics&) const;   values to what out is rounded from
//   template <T, n> void StoreSum(const Row&, int64_t i, const float (&values)[n]) const;
//                                                              outputs other than out
#pragma once

#include "kernels/rows/e4m3_device.cuh"
#include "kernels/rows/row_kernels.cuh"

namespace reel::kernels {

// One block a row; any width, strides and alignment. Finds the row's largest value in a pass of its
// own; a value is computed in the same way each time.
template <typename T, typename Op>
__global__ void __launch_bounds__(kGenericThreads) GenericE4m3Rows(const __grid_constant__ Op op) {
  static_assert(Op::kRun == 1);
  __shared__ float scratch[2][kGenericThreads / 32];
  __shared__ unsigned largest_scratch[kGenericThreads / 32];
  const RowShape& shape = op.shape();
  for (int64_t index = blockIdx.x; index < shape.rows; index += gridDim.x) {
    const auto row = op.At(index);
    const RowStatistics statistics = BlockStatistics<T>(op, row, scratch);
    const auto finish = [&](int64_t i, float(&value)[1]) {
      typename Op::template Beside<1> beside;
      op.template LoadBeside<T>(row, i, beside);
      op.template Finish<T>(row, i, value, beside, statistics);
    };
    const RowPlace place = PlaceOf(shape, index);
    const bool own = op.p.out_scale.fixed == 0;
    RowScale scale = StaticScale(op.p.out_scale.fixed);
    if (own) {
      unsigned largest = 0;
      for (int64_t i = threadIdx.x; i < shape.width; i += kGenericThreads) {
        float value[1];
        op.template Load<T>(row, i, value);
        finish(i, value);
        largest = max(largest, SizeBits(value[0]));
      }
      scale = ScaleOf(GroupMax<kGenericThreads>(largest, largest_scratch));
    }
    auto* out = static_cast<uint8_t*>(op.p.out.data) + OffsetAt(shape, op.p.out, place);
    for (int64_t i = threadIdx.x; i < shape.width; i += kGenericThreads) {
      float value[1];
      op.template Load<T>(row, i, value);
      op.template StoreSum<T>(row, i, value);
      finish(i, value);
      out[i * op.p.out.inner] = ToE4m3(value[0], scale);
    }
    if (own && threadIdx.x == 0) {
      static_cast<float*>(op.p.out_scale.rows.data)[OffsetAt(shape, op.p.out_scale.rows, place)] =
          scale.scale;
    }
    __syncthreads();  // the scratch of the previous reduction has been read
  }
}

// For either kind of scale.
template <typename Op>
int32_t LaunchGenericOutput(const Op& op, void* stream) {
  if (op.p.out.dtype != Dtype::kE4m3) return LaunchGenericRows(op, stream);
  return LaunchBlockARow(op, stream, []<typename T>(T) { return GenericE4m3Rows<T, Op>; });
}

}  // namespace reel::kernels
