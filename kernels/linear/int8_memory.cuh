// SPDX-License-Identifier: Apache-2.0
// What a block of linear_int8_sm90.cu has in shared memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/linear/int8_tiles_layout.h"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/mma/tensor_copy.cuh"

namespace reel::kernels {

inline constexpr int kGroups = 2;  // warpgroups that multiply
inline constexpr int kGroupRows = kTileRows / kGroups;
static_assert(kGroupRows == 64);
inline constexpr int kDepth = kSwizzledRow;  // of D, a piece
inline constexpr int kBoxColumns = 64;       // outputs that leave together
inline constexpr int kBoxBytes = kGroupRows * kBoxColumns * 2;
inline constexpr int kMostShared = 227 * 1024, kMostStages = 6;

// What an output has beside its sum.
struct Beside {
  float scale, bias;
};

template <int kColumns>
struct Shared {
  static constexpr int kStageBytes = (kTileRows + kColumns) * kDepth;
  static constexpr int kBoxesBytes = kGroups * 2 * kBoxBytes;
  static constexpr int kBesideBytes = kGroups * kColumns * static_cast<int>(sizeof(Beside));
  static constexpr int kBarrierBytes = 2 * kMostStages * 8;
  static constexpr int kAlignment = 1024;  // of rectangles
  static constexpr int kStages = std::min(
      kMostStages,
      (kMostShared - kAlignment - kBoxesBytes - kBesideBytes - kBarrierBytes) / kStageBytes);
  static constexpr int kBytes =
      kAlignment + kStages * kStageBytes + kBoxesBytes + kBesideBytes + kBarrierBytes;

  uint32_t base;

  __device__ explicit Shared(const void* memory)
      : base((SharedAddress(memory) + kAlignment - 1) & ~uint32_t{kAlignment - 1}) {}
  __device__ uint32_t X(int stage) const { return base + stage * kStageBytes; }
  __device__ uint32_t Weight(int stage) const { return X(stage) + kTileRows * kDepth; }
  __device__ uint32_t Box(int group, int box) const {
    return base + kStages * kStageBytes + (2 * group + (box & 1)) * kBoxBytes;
  }
  __device__ uint32_t BesideOf(int group) const {
    return base + kStages * kStageBytes + kBoxesBytes + group * kBesideBytes / kGroups;
  }
  __device__ uint32_t Full(int stage) const {
    return base + kStages * kStageBytes + kBoxesBytes + kBesideBytes + 8 * stage;
  }
  __device__ uint32_t Empty(int stage) const { return Full(stage) + 8 * kMostStages; }
};

__device__ inline float4 LoadBesides(uint32_t address) {
  float4 two;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(two.x), "=f"(two.y), "=f"(two.z), "=f"(two.w)
               : "r"(address));
  return two;
}
__device__ inline void StoreBeside(uint32_t address, const Beside& beside) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};"
               :
               : "r"(address), "f"(beside.scale), "f"(beside.bias)
               : "memory");
}

}  // namespace reel::kernels
