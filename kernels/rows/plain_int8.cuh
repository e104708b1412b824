// SPDX-License-Identifier: Apache-2.0
// Converts rows that a thread group holds in registers to int8 (int8_layout.h): a thread has a
// group of each row. For .cu files.
#pragma once

#include "kernels/rows/int8_device.cuh"
#include "kernels/rows/plain_row.cuh"

namespace reel::kernels {

// One thread's part of kRows rows: the fp32 values of kVectors vectors each, a quarter of a row
// apart.
template <int kPer, int kVectors, int kLanes, int kRows>
struct Int8Part {
  static_assert(kPer == kTurnedRun && kVectors == kQuarters);
  using Scale = Int8Scale;

  float values[kRows][kVectors][kPer];

  // Rotates and reduces all rows at once, with one barrier. `scratch` as in CombineGroup.
  __device__ void Scales(const PlainCodes&, int, int, unsigned* scratch, Scale (&scales)[kRows]) {
    unsigned largest[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Turn(Group(r));
      largest[r] = LargestOf(Group(r));
    }
    GroupMaxes<kLanes>(largest, scratch);
#pragma unroll
    for (int r = 0; r < kRows; ++r) scales[r] = Int8ScaleOf(largest[r]);
  }

  // Stores row r, which is `row` of `outer`.
  __device__ void Store(const PlainCodes& out, int64_t outer, int64_t row, int, int lane, int r,
                        const Scale& scale) {
    char* const codes = out.codes.data + outer * out.codes.outer + row * out.codes.inner;
    StoreInt8(codes + lane * kTurnedRun, kLanes * kTurnedRun, Group(r), scale.codes_of_one);
    if (lane != 0) return;
    *reinterpret_cast<float*>(out.scales.data + outer * out.scales.outer + row * out.scales.inner) =
        scale.scale;
  }

 private:
  __device__ float (&Group(int r))[kTurned] {
    return reinterpret_cast<float(&)[kTurned]>(values[r]);
  }
};

}  // namespace reel::kernels
