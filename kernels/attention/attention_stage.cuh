// SPDX-License-Identifier: Apache-2.0
// A block's shared memory in cross_attention, and copies into it and into a warp's registers. For
// .cu files of sm_80 and later.
#pragma once

#include "kernels/attention/attention_heads.cuh"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

inline constexpr int kCrossWarps = 4;
inline constexpr int kCrossThreads = 32 * kCrossWarps;
inline constexpr int kKeys = 128;  // fit into shared memory; zeros past the last

// 2^x within 2 ulp; 0 below the normal numbers.
__device__ inline float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <int kWidth>
struct Shared {
  uint4 keys[kKeys * kWidth / 8];
  uint4 values[kKeys * kWidth / 8];
  float bias[kKeys];  // times log2(e)
};

// The position of vector `chunk` of a key. Eight lanes read four neighbouring vectors of two keys
// at once: those of odd keys are in the other banks.
template <int kWidth>
__device__ inline unsigned KeyVector(unsigned key, unsigned chunk) {
  return key * (kWidth / 8) + (chunk ^ (key % 2 * 4));
}
// The position of a value. Eight lanes read the same vector of eight keys at once.
template <int kWidth>
__device__ inline unsigned ValueVector(unsigned key, unsigned chunk) {
  return key * (kWidth / 8) + (chunk ^ (key % 8));
}

struct Lane {
  unsigned row;     // of eight: a query, a key
  unsigned column;  // of four: a vector of 8 channels of 32, two keys of 8
};
__device__ inline Lane ThisLane() { return {threadIdx.x % 32 / 4, threadIdx.x % 4}; }
__device__ inline float MinusInfinity() { return __uint_as_float(0xff800000u); }

// Calls `body(key, chunk)` for this thread's vectors of the first kUsed keys.
template <int kWidth, int kUsed, typename Body>
__device__ inline void ForEachVector(const Body& body) {
  constexpr unsigned kChunks = kWidth / 8;
#pragma unroll 8
  for (int n = 0; n < static_cast<int>(kUsed * kChunks / kCrossThreads); ++n) {
    const unsigned i = n * kCrossThreads + threadIdx.x;
    body(i / kChunks, i % kChunks);
  }
}

template <typename T, int kWidth, int kUsed>
__device__ inline void StageKeys(const T* k, int64_t stride, unsigned keys, uint4* to) {
  ForEachVector<kWidth, kUsed>([&](unsigned key, unsigned chunk) {
    const bool there = key < keys;
    const T* from = k + (there ? key * stride : 0) + chunk * 8;
    CopyAsync16(SharedAddress(to + KeyVector<kWidth>(key, chunk)), from, there);
  });
}

// Word w of vector 4 g + c goes to word c of vector 4 g + w. A lane's outputs of four neighbouring
// products are then 8 contiguous channels.
template <typename T, int kWidth, int kUsed>
__device__ inline void StageValues(const T* v, int64_t stride, unsigned keys, uint4* to) {
  ForEachVector<kWidth, kUsed>([&](unsigned key, unsigned chunk) {
    uint4 raw = {0, 0, 0, 0};
    if (key < keys) raw = *reinterpret_cast<const uint4*>(v + key * stride + chunk * 8);
    const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (unsigned w = 0; w < 4; ++w) {
      uint4* vector = to + ValueVector<kWidth>(key, chunk / 4 * 4 + w);
      reinterpret_cast<uint32_t*>(vector)[chunk % 4] = words[w];
    }
  });
}

// The biases of one head, in q's type or fp32.
template <typename T>
struct HeadBias {
  const AttentionOperand& bias;
  int64_t first;

  __device__ float At(int64_t query, unsigned key) const {
    const int64_t i = first + query * bias.strides[1] + key * bias.strides[3];
    if (bias.dtype == Dtype::kF32) return static_cast<const float*>(bias.data)[i] * kLog2E;
    return ToFp32(static_cast<const T*>(bias.data)[i]) * kLog2E;
  }
};

template <typename T, bool kRowBias>
__device__ inline void StageBias(const HeadBias<T>& bias, unsigned keys, float* to) {
  static_assert(kKeys == kCrossThreads);
  const unsigned key = threadIdx.x;
  const bool there = !kRowBias && bias.bias.data != nullptr && key < keys;
  to[key] = there ? bias.At(0, key) : 0;
}

// A lane's part of a warp's queries: rows `row` and `row + 8` of every tile.
template <int kTiles, int kWidth>
struct Queries {
  uint4 vectors[kTiles][2][kWidth / 32];
};

// `left`: queries from `first` to the end; may be zero or less.
template <typename T, int kTiles, int kWidth>
__device__ inline void LoadQueries(const T* first, int64_t stride, int left,
                                   Queries<kTiles, kWidth>& queries) {
  const Lane lane = ThisLane();
  const T* data = first + lane.row * stride + lane.column * 8;
#pragma unroll
  for (int r = 0; r < 2 * kTiles; ++r, data += 8 * stride) {
    const bool there = static_cast<int>(8 * r + lane.row) < left;
#pragma unroll
    for (int j = 0; j < kWidth / 32; ++j) {
      uint4& vector = queries.vectors[r / 2][r % 2][j];
      vector = {0, 0, 0, 0};
      if (there) vector = Load16<Reuse::kStreamed>(reinterpret_cast<const uint4*>(data) + 4 * j);
    }
  }
}

}  // namespace reel::kernels
