// SPDX-License-Identifier: Apache-2.0
// Loads a tile of 4x4 pixels into registers, from every layout of frames that frame_convert_sm80.cu
// takes.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "kernels/frame_convert/frame_convert_job.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

inline constexpr int kTile = 4;

enum class Samples { kPacked, kPlanar, kPatched };

// x/2 + 1/2 for kCount contiguous elements, 4, or 8 of 16 bytes, not clamped: rounded in the type
// unless kExact. Halving is exact or too small to matter, so one rounding gives the result of two.
template <typename T, bool kExact, int kCount>
__device__ void LoadUnits(const FrameConvertParams& p, int64_t offset, float (&units)[kCount]) {
  using Raw = std::conditional_t<kCount * sizeof(T) == 16, uint4, uint2>;
  static_assert(sizeof(Raw) == kCount * sizeof(T));
  const auto raw = *reinterpret_cast<const Raw*>(static_cast<const T*>(p.in) + offset);
  if constexpr (kExact || sizeof(T) == 4) {
    const T* typed = reinterpret_cast<const T*>(&raw);
#pragma unroll
    for (int i = 0; i < kCount; ++i) units[i] = fmaf(ToFp32(typed[i]), 0.5f, 0.5f);
  } else {
    using Two = typename std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
    const Two* two = reinterpret_cast<const Two*>(&raw);
    const Two half{FromFp32<T>(0.5f), FromFp32<T>(0.5f)};
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) {
      const Two rounded = __hfma2(two[i], half, half);
      units[2 * i] = ToFp32(rounded.x);
      units[2 * i + 1] = ToFp32(rounded.y);
    }
  }
}
// The same for one element.
template <typename T, bool kExact>
__device__ float LoadOne(const FrameConvertParams& p, int64_t offset) {
  const float unit = fmaf(ToFp32(static_cast<const T*>(p.in)[offset]), 0.5f, 0.5f);
  return kExact ? unit : ToFp32(FromFp32<T>(unit));
}

// Channels, rows, columns; column 0 is the one left of the tile.
struct Tile {
  float at[3][kTile][kTile + 1];

  __device__ Rgb Pixel(int row, int column) const {
    return {at[0][row][column], at[1][row][column], at[2][row][column]};
  }
  // NaN becomes 0.
  __device__ void Cut() {
#pragma unroll
    for (int i = 0; i < 3 * kTile * (kTile + 1); ++i) {
      float& value = at[i / (kTile * (kTile + 1))][i / (kTile + 1) % kTile][i % (kTile + 1)];
      value = __saturatef(value);
    }
  }
};

// A patch is 48 samples: channel slow, row fast.
template <typename T, bool kExact>
__device__ void LoadPatch(const FrameConvertParams& p, int64_t from, Tile& tile) {
  constexpr int kRun = kPerVector<T>;
#pragma unroll
  for (int first = 0; first < 3 * kTile * kTile; first += kRun) {
    float units[kRun];
    LoadUnits<T, kExact>(p, from + first, units);
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      const int sample = first + i;
      tile.at[sample / 16][sample % 4][sample / 4 % 4 + 1] = units[i];
    }
  }
}

template <typename T, Samples kSamples, bool kExact>
__device__ void LoadPixels(const FrameConvertParams& p, int64_t from, Tile& tile) {
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = 0; b < kTile; ++b) {
      float four[kTile];
      if constexpr (kSamples == Samples::kPlanar) {
        LoadUnits<T, kExact>(p, from + a * p.strides[3] + b * p.strides[1],
                             four);  // a channel, b row
      } else {
        LoadUnits<T, kExact>(p, from + b * p.strides[1] + 4 * a, four);  // b row
      }
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
        if constexpr (kSamples == Samples::kPlanar) {
          tile.at[a][b][i + 1] = four[i];
        } else {
          tile.at[(4 * a + i) % 3][b][(4 * a + i) / 3 + 1] = four[i];
        }
      }
    }
  }
}

// `from`: the offset of the tile's first pixel, or of its patch.
template <typename T, Samples kSamples, bool kExact>
__device__ void LoadTile(const FrameConvertParams& p, int64_t from, Tile& tile) {
  if constexpr (kSamples == Samples::kPatched) {
    LoadPatch<T, kExact>(p, from, tile);
  } else {
    LoadPixels<T, kSamples, kExact>(p, from, tile);
  }
}

// The column left of a tile, or its own first one at the edge. Without a branch, so that all loads
// are in flight together.
template <typename T, Samples kSamples, bool kExact>
__device__ void LoadLeftColumn(const FrameConvertParams& p, int64_t from, bool edge, Tile& tile) {
  if constexpr (kSamples == Samples::kPlanar) {
    const int64_t left = edge ? from : from - 1;
#pragma unroll
    for (int i = 0; i < 3 * kTile; ++i) {
      tile.at[i / kTile][i % kTile][0] =
          LoadOne<T, kExact>(p, left + i / kTile * p.strides[3] + i % kTile * p.strides[1]);
    }
  } else if constexpr (kSamples == Samples::kPatched) {
    const int64_t left = edge ? from : from - p.strides[2] + 12;
#pragma unroll
    for (int channel = 0; channel < 3; ++channel) {
      float four[kTile];
      LoadUnits<T, kExact>(p, left + 16 * channel, four);
#pragma unroll
      for (int row = 0; row < kTile; ++row) tile.at[channel][row][0] = four[row];
    }
  } else {
    const int64_t left = edge ? from : from - kTile;  // the last three samples of four are a pixel
#pragma unroll
    for (int row = 0; row < kTile; ++row) {
      float four[kTile];
      LoadUnits<T, kExact>(p, left + row * p.strides[1], four);
#pragma unroll
      for (int channel = 0; channel < 3; ++channel) {
        tile.at[channel][row][0] = edge ? four[channel] : four[channel + 1];
      }
    }
  }
}

}  // namespace reel::kernels
