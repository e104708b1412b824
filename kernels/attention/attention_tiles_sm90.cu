// SPDX-License-Identifier: Apache-2.0
// Converts keys and values to 8-bit tiles (tile_layout.h), before attention_e4m3_sm90.cu,
// attention_int8_sm90.cu and attention_routed_sm90.cu: a block a tile. Bound by memory: of a key of
// 64 channels 256 bytes are read, 137 written.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "kernels/attention/attention_heads.cuh"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/int8_codes.cuh"
#include "kernels/attention/tile_layout.h"
#include "kernels/mma/tensor_core.cuh"
#include "kernels/rows/e4m3_device.cuh"
#include "kernels/rows/plain_row.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;
template <int kWidth>
constexpr int kChunks = kWidth / 8;  // vectors of 16 bytes

// The smallest exponent above the number with these bits.
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

template <typename T, int kWidth>
struct Block {
  using Tile = KeyTile<kWidth>;

  unsigned largest[2][kThreads / 32];  // for keys, for values
  // 16 keys read a column at a time: two padding channels put them into different banks.
  T values[kTileKeys][kWidth + 2];
  alignas(16) unsigned char tile[Tile::kBytes];
};

// Stores 16 keys of row `row`, in a column's order.
template <typename T, int kWidth>
__device__ inline uint4 ValueCodes(const Block<T, kWidth>& block, int column, int row,
                                   float factor) {
  using Tile = KeyTile<kWidth>;
  const int channel = Tile::ChannelOf(row);
  uint32_t words[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    float x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[i] = factor * static_cast<float>(block.values[Tile::KeyOf(column, 4 * w + i)][channel]);
    }
    words[w] = FourE4m3(x[0], x[1], x[2], x[3]);
  }
  return {words[0], words[1], words[2], words[3]};
}

// The same for the row whose product is the sum of the weights: `code` for each existing key.
template <typename Tile>
__device__ inline uint4 SumCodes(int column, int keys, uint32_t code) {
  uint32_t words[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    words[w] = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (Tile::KeyOf(column, 4 * w + i) < keys) words[w] |= code << (8 * i);
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

// A thread has 8 channels of a key; neighbouring threads have all. Measure finds the largest of a
// tile, from which Factor makes the factor for codes.
template <int kWidth>
struct KeysInE4m3 {
  __device__ static unsigned Measure(const float (&x)[8]) { return LargestOf(x); }
  // 2^ke
  __device__ static float Factor(unsigned largest) {
    return exp2f(static_cast<float>(max(ExponentAbove(largest) - 4, -100)));
  }
  __device__ static uint32_t Four(const float* x, float inverse) {
    return FourE4m3(x[0] * inverse, x[1] * inverse, x[2] * inverse, x[3] * inverse);
  }
};
template <int kWidth>
struct KeysInInt8 {
  // Also rotates them.
  __device__ static unsigned Measure(float (&x)[8]) {
    float squares = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) squares = fmaf(x[i], x[i], squares);
#pragma unroll
    for (int apart = 1; apart < kChunks<kWidth>; apart *= 2) {
      squares += __shfl_xor_sync(0xffffffffu, squares, apart);
    }
    Turn(x);
    const bool second = threadIdx.x % 2 != 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float other = __shfl_xor_sync(0xffffffffu, x[i], 1);
      x[i] = second ? other - x[i] : x[i] + other;
    }
    return max(CodeBits(LargestOf(x)), LengthBits<kWidth>(squares));
  }
  __device__ static float Factor(unsigned largest) {
    return fmaxf(__uint_as_float(largest), 0x1p-60f);
  }
  __device__ static uint32_t Four(const float* x, float inverse) { return FourInt8(x, inverse); }
};

template <typename T, typename Keys, int kWidth>
__global__ void __launch_bounds__(kThreads)
    WriteTiles(const __grid_constant__ AttentionParams p, unsigned char* tiles) {
  using Tile = KeyTile<kWidth>;
  constexpr int kStride = kThreads / kChunks<kWidth>, kKeysOfThread = kTileKeys / kStride;
  extern __shared__ uint4 shared_vectors[];
  auto& block = *reinterpret_cast<Block<T, kWidth>*>(shared_vectors);
  const int64_t head = blockIdx.y % p.heads, batch = blockIdx.y / p.heads;
  const int64_t first = int64_t{blockIdx.x} * kTileKeys;
  const T* const k = HeadOf<const T>(p.k, batch, head);
  const T* const v = HeadOf<const T>(p.v, batch, head);
  const int chunk = threadIdx.x % kChunks<kWidth>, lane_key = threadIdx.x / kChunks<kWidth>;
  float keys[kKeysOfThread][8];
  unsigned largest_key = 0, largest_value = 0;
#pragma unroll
  for (int i = 0; i < kKeysOfThread; ++i) {
    const int64_t key = first + lane_key + i * kStride;
    const int64_t there = min(key, p.keys - 1);
    Unpack<T>(*reinterpret_cast<const uint4*>(k + there * p.k.strides[1] + 8 * chunk), keys[i]);
    const uint4 values =
        key == there ? *reinterpret_cast<const uint4*>(v + there * p.v.strides[1] + 8 * chunk)
                     : uint4{};
    largest_key = max(largest_key, Keys::Measure(keys[i]));
    largest_value = max(largest_value, LargestBits<T>(values));
    // Rows have an odd number of words, so copy words, not vectors.
    auto* row = reinterpret_cast<uint32_t*>(&block.values[lane_key + i * kStride][8 * chunk]);
    row[0] = values.x, row[1] = values.y, row[2] = values.z, row[3] = values.w;
  }
  unsigned largest[2] = {largest_key, largest_value};
  GroupMaxes<kThreads>(largest, block.largest[0]);
  const bool finite = max(largest[0], largest[1]) < 0x7f800000u;
  // e4m3 represents 2^-ve from 2^-9 to 2^8.
  const int value_exponent = min(max(ExponentAbove(largest[1]) - 8, -8), 9);
  const float key_factor = finite ? Keys::Factor(largest[0]) : 1.0f;
  const float value_factor = exp2f(static_cast<float>(-value_exponent));
#pragma unroll
  for (int i = 0; i < kKeysOfThread; ++i) {
    const int key = lane_key + i * kStride;
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      *reinterpret_cast<uint32_t*>(block.tile + Tile::KeyByte(key, 8 * chunk + 4 * part)) =
          Keys::Four(keys[i] + 4 * part, 1 / key_factor);
    }
  }
  __syncthreads();
  constexpr int kColumns = kTileKeys / 16;
  const uint32_t sum_code =
      finite ? __nv_cvt_float_to_fp8(value_factor, __NV_SATFINITE, __NV_E4M3) : kE4m3Nan;
  for (int i = threadIdx.x; i < kColumns * Tile::kValueRows; i += kThreads) {
    const int column = i / Tile::kValueRows, row = i % Tile::kValueRows;
    uint4 codes = {};
    if (row < kWidth) {
      codes = ValueCodes(block, column, row, value_factor);
    } else if (row == kWidth) {
      codes = SumCodes<Tile>(column, static_cast<int>(min(p.keys - first, int64_t{kTileKeys})),
                             sum_code);
    }
    *reinterpret_cast<uint4*>(block.tile + Tile::ValueVector(column, row)) = codes;
  }
  if (threadIdx.x < (Tile::kBytes - Tile::kFactors) / sizeof(TileFactors)) {
    reinterpret_cast<TileFactors*>(block.tile + Tile::kFactors)[threadIdx.x] = {
        key_factor, static_cast<float>(value_exponent + p.log2_keys)};
  }
  __syncthreads();
  auto* const out = reinterpret_cast<uint4*>(
      tiles + (int64_t{blockIdx.y} * gridDim.x + blockIdx.x) * Tile::kBytes);
  for (int i = threadIdx.x; i < Tile::kBytes / 16; i += kThreads) {
    out[i] = reinterpret_cast<const uint4*>(block.tile)[i];
  }
}

template <typename T, template <int> typename Keys, int kWidth>
cudaError_t Launch(const AttentionParams& params, cudaStream_t stream) {
  auto* const kernel = WriteTiles<T, Keys<kWidth>, kWidth>;
  constexpr int kShared = sizeof(Block<T, kWidth>);
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  if (error != cudaSuccess) return error;
  const dim3 blocks(static_cast<unsigned>(KeyTiles(params.keys)),
                    static_cast<unsigned>(params.batch * params.heads));
  kernel<<<blocks, kThreads, kShared, stream>>>(params,
                                                static_cast<unsigned char*>(params.scratch));
  return cudaGetLastError();
}
template <typename T, template <int> typename Keys>
cudaError_t LaunchOfWidth(const AttentionParams& params, cudaStream_t stream) {
  return params.width == 128 ? Launch<T, Keys, 128>(params, stream)
                             : Launch<T, Keys, 64>(params, stream);
}
template <typename T>
cudaError_t LaunchOfForm(const AttentionParams& params, cudaStream_t stream) {
  return params.key_form == KeyForm::kInt8 ? LaunchOfWidth<T, KeysInInt8>(params, stream)
                                           : LaunchOfWidth<T, KeysInE4m3>(params, stream);
}

}  // namespace

int32_t LaunchAttentionTilesSm90(const AttentionParams& params, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  return params.q.dtype == Dtype::kF16 ? LaunchOfForm<__half>(params, on)
                                       : LaunchOfForm<__nv_bfloat16>(params, on);
}

}  // namespace reel::kernels
