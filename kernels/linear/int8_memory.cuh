// SPDX-License-Identifier: Apache-2.0
// The shared memory of a block of linear_int8_sm90.cu.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/linear/int8_tiles_layout.h"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/mma/tensor_copy.cuh"

namespace reel::kernels {

inline constexpr int kProductGroups = 2;  // warpgroups that multiply
inline constexpr int kProductRows = kInt8TileRows / kProductGroups;
static_assert(kProductRows == 64);
inline constexpr int kPieceDepth = kSwizzledRow;  // of D, in a piece
inline constexpr int kBoxColumns = 64;            // outputs that are stored together
inline constexpr int kBoxBytes = kProductRows * kBoxColumns * 2;
inline constexpr int kMostShared = 227 * 1024, kMostStages = 6;

// The factors of an output beside its sum.
struct OutputBeside {
  float scale, bias;
};

template <int kColumns>
struct Int8Memory {
  static constexpr int kStageBytes = (kInt8TileRows + kColumns) * kPieceDepth;
  static constexpr int kBoxesBytes = kProductGroups * 2 * kBoxBytes;
  static constexpr int kBesideBytes =
      kProductGroups * kColumns * static_cast<int>(sizeof(OutputBeside));
  static constexpr int kBarrierBytes = 2 * kMostStages * 8;
  static constexpr int kAlignment = 1024;  // of rectangles
  static constexpr int kStages = std::min(
      kMostStages,
      (kMostShared - kAlignment - kBoxesBytes - kBesideBytes - kBarrierBytes) / kStageBytes);
  static constexpr int kBytes =
      kAlignment + kStages * kStageBytes + kBoxesBytes + kBesideBytes + kBarrierBytes;

  uint32_t base;

  __device__ explicit Int8Memory(const void* memory)
      : base((SharedAddress(memory) + kAlignment - 1) & ~uint32_t{kAlignment - 1}) {}
  __device__ uint32_t X(int stage) const { return base + stage * kStageBytes; }
  __device__ uint32_t Weight(int stage) const { return X(stage) + kInt8TileRows * kPieceDepth; }
  __device__ uint32_t Box(int group, int box) const {
    return base + kStages * kStageBytes + (2 * group + (box & 1)) * kBoxBytes;
  }
  __device__ uint32_t BesideOf(int group) const {
    return base + kStages * kStageBytes + kBoxesBytes + group * kBesideBytes / kProductGroups;
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
__device__ inline void StoreBeside(uint32_t address, const OutputBeside& beside) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};"
               :
               : "r"(address), "f"(beside.scale), "f"(beside.bias)
               : "memory");
}

}  // namespace reel::kernels
