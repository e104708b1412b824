// SPDX-License-Identifier: Apache-2.0
// Keys and values to tiles of e4m3 (e4m3_tile_layout.h), before attention_e4m3_sm90.cu: a block a
// tile. Bound by memory: 256 bytes a key are read, 137 written.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "kernels/attention/attention_heads.cuh"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/e4m3_tile_layout.h"
#include "kernels/mma/tensor_core.cuh"
#include "kernels/rows/e4m3_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kChunks = kE4m3HeadWidth / 8;  // vectors of 16 bytes
constexpr int kStride = kThreads / kChunks;
constexpr int kKeysOfThread = kE4m3TileKeys / kStride;

// The exponent above the number with these bits.
__device__ inline int ExponentAbove(unsigned bits) { return static_cast<int>(bits >> 23) - 126; }

template <typename T>
__device__ inline unsigned LargestBits(const uint4& vector) {
  const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
  unsigned largest = 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const float2 two = UnpackTwo<T>(words[w]);
    largest = max(largest, max(SizeBits(two.x), SizeBits(two.y)));
  }
  return largest;
}

template <typename T>
struct Block {
  unsigned largest[2][kThreads / 32];  // of keys, of values
  // A column is read by 16 keys at a time: two more channels keep them in different banks.
  T values[kE4m3TileKeys][kE4m3HeadWidth + 2];
  alignas(16) unsigned char tile[kE4m3TileBytes];
};

// 16 keys of row `row`, in the order of a column.
template <typename T>
__device__ inline uint4 ValueCodes(const Block<T>& block, int column, int row, float factor) {
  const int channel = E4m3Tile::ChannelOf(row);
  uint32_t words[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    float x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[i] = factor * static_cast<float>(block.values[E4m3Tile::KeyOf(column, 4 * w + i)][channel]);
    }
    words[w] = FourE4m3(x[0], x[1], x[2], x[3]);
  }
  return {words[0], words[1], words[2], words[3]};
}

// The same of the row whose product is the sum of the weights: `code` where there is a key.
__device__ inline uint4 SumCodes(int column, int keys, uint32_t code) {
  uint32_t words[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    words[w] = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (E4m3Tile::KeyOf(column, 4 * w + i) < keys) words[w] |= code << (8 * i);
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    WriteTiles(const __grid_constant__ AttentionParams p, unsigned char* tiles) {
  __shared__ Block<T> block;
  const int64_t head = blockIdx.y % p.heads, batch = blockIdx.y / p.heads;
  const int64_t first = int64_t{blockIdx.x} * kE4m3TileKeys;
  const T* const k = HeadOf<const T>(p.k, batch, head);
  const T* const v = HeadOf<const T>(p.v, batch, head);
  const int chunk = threadIdx.x % kChunks, lane_key = threadIdx.x / kChunks;
  uint4 keys[kKeysOfThread], values[kKeysOfThread];
  unsigned largest_key = 0, largest_value = 0;
#pragma unroll
  for (int i = 0; i < kKeysOfThread; ++i) {
    const int64_t key = first + lane_key + i * kStride;
    const int64_t there = min(key, p.keys - 1);
    keys[i] = *reinterpret_cast<const uint4*>(k + there * p.k.strides[1] + 8 * chunk);
    values[i] = key == there
                    ? *reinterpret_cast<const uint4*>(v + there * p.v.strides[1] + 8 * chunk)
                    : uint4{};
    largest_key = max(largest_key, LargestBits<T>(keys[i]));
    largest_value = max(largest_value, LargestBits<T>(values[i]));
    // Rows of an odd number of words: in words, not in vectors.
    auto* row = reinterpret_cast<uint32_t*>(&block.values[lane_key + i * kStride][8 * chunk]);
    row[0] = values[i].x, row[1] = values[i].y, row[2] = values[i].z, row[3] = values[i].w;
  }
  unsigned largest[2] = {largest_key, largest_value};
  GroupMaxes<kThreads>(largest, block.largest[0]);
  const bool finite = max(largest[0], largest[1]) < 0x7f800000u;
  const int key_exponent = max(ExponentAbove(largest[0]) - 4, -100);
  // 2^-ve is e4m3 from 2^-9 to 2^8.
  const int value_exponent = min(max(ExponentAbove(largest[1]) - 8, -8), 9);
  const float key_factor = exp2f(static_cast<float>(-key_exponent));
  const float value_factor = exp2f(static_cast<float>(-value_exponent));
#pragma unroll
  for (int i = 0; i < kKeysOfThread; ++i) {
    float x[8];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const uint32_t words[4] = {keys[i].x, keys[i].y, keys[i].z, keys[i].w};
      const float2 two = UnpackTwo<T>(words[w]);
      x[2 * w] = two.x * key_factor, x[2 * w + 1] = two.y * key_factor;
    }
    const int key = lane_key + i * kStride;
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      *reinterpret_cast<uint32_t*>(block.tile + E4m3Tile::KeyByte(key, 8 * chunk + 4 * part)) =
          FourE4m3(x[4 * part], x[4 * part + 1], x[4 * part + 2], x[4 * part + 3]);
    }
  }
  __syncthreads();
  constexpr int kColumns = kE4m3TileKeys / 16;
  const uint32_t sum_code =
      finite ? __nv_cvt_float_to_fp8(value_factor, __NV_SATFINITE, __NV_E4M3) : kE4m3Nan;
  for (int i = threadIdx.x; i < kColumns * E4m3Tile::kValueRows; i += kThreads) {
    const int column = i / E4m3Tile::kValueRows, row = i % E4m3Tile::kValueRows;
    uint4 codes = {};
    if (row < kE4m3HeadWidth) {
      codes = ValueCodes(block, column, row, value_factor);
    } else if (row == kE4m3HeadWidth) {
      codes =
          SumCodes(column, static_cast<int>(min(p.keys - first, int64_t{kE4m3TileKeys})), sum_code);
    }
    *reinterpret_cast<uint4*>(block.tile + E4m3Tile::ValueVector(column, row)) = codes;
  }
  if (threadIdx.x < (kE4m3TileBytes - E4m3Tile::kExponents) / sizeof(E4m3Exponents)) {
    reinterpret_cast<E4m3Exponents*>(block.tile + E4m3Tile::kExponents)[threadIdx.x] = {
        exp2f(static_cast<float>(key_exponent)), static_cast<float>(value_exponent)};
  }
  __syncthreads();
  auto* const out = reinterpret_cast<uint4*>(
      tiles + (int64_t{blockIdx.y} * gridDim.x + blockIdx.x) * kE4m3TileBytes);
  for (int i = threadIdx.x; i < kE4m3TileBytes / 16; i += kThreads) {
    out[i] = reinterpret_cast<const uint4*>(block.tile)[i];
  }
}

}  // namespace

int32_t LaunchAttentionTilesSm90(const AttentionParams& params, void* stream) {
  const dim3 blocks(static_cast<unsigned>(E4m3Tiles(params.keys)),
                    static_cast<unsigned>(params.batch * params.heads));
  const auto on = static_cast<cudaStream_t>(stream);
  auto* const tiles = static_cast<unsigned char*>(params.scratch);
  if (params.q.dtype == Dtype::kF16) {
    WriteTiles<__half><<<blocks, kThreads, 0, on>>>(params, tiles);
  } else {
    WriteTiles<__nv_bfloat16><<<blocks, kThreads, 0, on>>>(params, tiles);
  }
  return cudaGetLastError();
}

}  // namespace reel::kernels
