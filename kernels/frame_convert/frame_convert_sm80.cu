// SPDX-License-Identifier: Apache-2.0
// frame_convert where four samples that belong together lie side by side (FrameConvertTileAccepts).
//
// A thread is a tile of 4x4 pixels in registers, read and written four samples at a time; packed
// frames into packed pixels are a plain run of elements. Bound by memory: each sample is read once,
// but for the column left of a tile, which chroma needs and the caches have.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <type_traits>

#include "kernels/frame_convert/frame_convert_job.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kTile = 4;

enum class Samples { kPacked, kPlanar, kPatched };

// x/2 + 1/2, rounded in the type unless `exact`: halves are exact or too small to matter, so that
// one rounding is what two give. Not cut.
__device__ void ToUnits(const FrameConvertParams&, const float (&x)[kTile], float (&units)[kTile]) {
#pragma unroll
  for (int i = 0; i < kTile; ++i) units[i] = fmaf(x[i], 0.5f, 0.5f);
}
template <typename T, typename Two>
__device__ void ToUnitsOf(const FrameConvertParams& p, const Two (&two)[kTile / 2],
                          float (&units)[kTile]) {
  const Two half{FromFp32<T>(0.5f), FromFp32<T>(0.5f)};
#pragma unroll
  for (int i = 0; i < kTile / 2; ++i) {
    const Two rounded = __hfma2(two[i], half, half);
    units[2 * i] = p.exact ? fmaf(ToFp32(two[i].x), 0.5f, 0.5f) : ToFp32(rounded.x);
    units[2 * i + 1] = p.exact ? fmaf(ToFp32(two[i].y), 0.5f, 0.5f) : ToFp32(rounded.y);
  }
}

// Four elements that lie side by side, not cut.
template <typename T>
__device__ void LoadFour(const FrameConvertParams& p, int64_t offset, float (&units)[kTile]) {
  const T* data = static_cast<const T*>(p.in) + offset;
  if constexpr (sizeof(T) == 4) {
    float values[kTile];
    LoadRun<T>(data, values);
    ToUnits(p, values, units);
  } else {
    using Two = typename std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
    const uint2 raw = *reinterpret_cast<const uint2*>(data);
    ToUnitsOf<T>(p, reinterpret_cast<const Two(&)[kTile / 2]>(raw), units);
  }
}
// One of them.
template <typename T>
__device__ float LoadOne(const FrameConvertParams& p, int64_t offset) {
  const float x = ToFp32(static_cast<const T*>(p.in)[offset]);
  const float unit = fmaf(x, 0.5f, 0.5f);
  return p.exact ? unit : ToFp32(FromFp32<T>(unit));
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

// `from`: of the tile's first pixel, or of its patch.
template <typename T, Samples kSamples>
__device__ void LoadTile(const FrameConvertParams& p, int64_t from, Tile& tile) {
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = 0; b < kTile; ++b) {
      float four[kTile];
      if constexpr (kSamples == Samples::kPatched) {
        LoadFour<T>(p, from + 16 * a + 4 * b, four);  // a channel, b column
      } else if constexpr (kSamples == Samples::kPlanar) {
        LoadFour<T>(p, from + a * p.strides[3] + b * p.strides[1], four);  // a channel, b row
      } else {
        LoadFour<T>(p, from + b * p.strides[1] + 4 * a, four);  // b row
      }
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
        if constexpr (kSamples == Samples::kPatched) {
          tile.at[a][i][b + 1] = four[i];
        } else if constexpr (kSamples == Samples::kPlanar) {
          tile.at[a][b][i + 1] = four[i];
        } else {
          tile.at[(4 * a + i) % 3][b][(4 * a + i) / 3 + 1] = four[i];
        }
      }
    }
  }
}

// The column left of a tile, or its own first one where there is none: edges repeat.
template <typename T, Samples kSamples>
__device__ void LoadLeftColumn(const FrameConvertParams& p, int64_t from, bool edge, Tile& tile) {
#pragma unroll
  for (int channel = 0; channel < 3; ++channel) {
    float four[kTile];
    if (kSamples == Samples::kPatched && !edge) {
      LoadFour<T>(p, from - p.strides[2] + 16 * channel + 12, four);
    }
#pragma unroll
    for (int row = 0; row < kTile; ++row) {
      float& left = tile.at[channel][row][0];
      if (edge) {
        left = tile.at[channel][row][1];
      } else if constexpr (kSamples == Samples::kPatched) {
        left = four[row];
      } else if constexpr (kSamples == Samples::kPlanar) {
        left = LoadOne<T>(p, from + channel * p.strides[3] + row * p.strides[1] - 1);
      } else {
        left = LoadOne<T>(p, from + row * p.strides[1] - 3 + channel);
      }
    }
  }
}

// Half to even, cut to what a byte holds; NaN becomes 0.
__device__ uint32_t RoundToByte(float value) {
  uint32_t byte;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(byte) : "f"(value));
  return byte;
}

__device__ uint32_t Bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

__device__ void StoreRgb(const FramePlane& plane, int64_t at, int row, const Tile& tile) {
  uint32_t bytes[3 * kTile];
#pragma unroll
  for (int i = 0; i < 3 * kTile; ++i)
    bytes[i] = RoundToByte(255.0f * tile.at[i % 3][row][i / 3 + 1]);
  auto* out = reinterpret_cast<uint32_t*>(plane.data + at);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    out[i] = Bytes(bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]);
  }
}

__device__ void StoreLuma(const FrameConvertParams& p, int64_t at, int row, const Tile& tile) {
  uint32_t bytes[kTile];
#pragma unroll
  for (int i = 0; i < kTile; ++i) {
    bytes[i] = RoundToByte(p.luma_offset + p.luma_scale * Luma(p, tile.Pixel(row, i + 1)));
  }
  *reinterpret_cast<uint32_t*>(p.planes[0].data + at) =
      Bytes(bytes[0], bytes[1], bytes[2], bytes[3]);
}

// What a difference of colour and luma counts in levels.
struct ChromaFactors {
  float blue;
  float red;
};

// The two chroma samples of two rows from `row` on; the sums are in the order of AroundSample.
__device__ void StoreChroma(const FrameConvertParams& p, const ChromaFactors& factors, int64_t u_at,
                            int64_t v_at, int row, const Tile& tile) {
  uint32_t u[2];
  uint32_t v[2];
#pragma unroll
  for (int sample = 0; sample < 2; ++sample) {
    Rgb sum{0, 0, 0};
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      const int dx = i % 3 - 1;
      if (p.center_chroma && dx < 0) continue;
      const float weight = p.center_chroma || dx == 0 ? 0.25f : 0.125f;
      const Rgb pixel = tile.Pixel(row + i / 3, 2 * sample + dx + 1);
      sum.r += weight * pixel.r;
      sum.g += weight * pixel.g;
      sum.b += weight * pixel.b;
    }
    const float luma = Luma(p, sum);
    u[sample] = RoundToByte(128.0f + factors.blue * (sum.b - luma));
    v[sample] = RoundToByte(128.0f + factors.red * (sum.r - luma));
  }
  if (p.planes[1].column == 2) {
    *reinterpret_cast<uint32_t*>(p.planes[1].data + u_at) = Bytes(u[0], v[0], u[1], v[1]);
  } else {
    *reinterpret_cast<uint16_t*>(p.planes[1].data + u_at) = static_cast<uint16_t>(u[0] | u[1] << 8);
    *reinterpret_cast<uint16_t*>(p.planes[2].data + v_at) = static_cast<uint16_t>(v[0] | v[1] << 8);
  }
}

__device__ int64_t PlaneOffset(const FramePlane& plane, int64_t frame, int64_t y, int64_t x) {
  return frame * plane.frame + y * plane.row + x * plane.column;
}

template <typename T, Samples kSamples, bool kYuv>
__global__ void __launch_bounds__(kThreads)
    FrameTiles(const __grid_constant__ FrameConvertParams p, ChromaFactors factors, int64_t tiles) {
  const int64_t columns = p.width / kTile;
  const int64_t rows = p.height / kTile;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t job = int64_t{blockIdx.x} * kThreads + threadIdx.x; job < tiles; job += step) {
    const int64_t line = Quotient(job, columns);
    const int64_t frame = Quotient(line, rows);
    const int64_t y = (line - frame * rows) * kTile;
    const int64_t x = (job - line * columns) * kTile;
    const int64_t from = PixelOffset(p, frame, y, x, 0);
    Tile tile;
    LoadTile<T, kSamples>(p, from, tile);
    if constexpr (kYuv) {
      LoadLeftColumn<T, kSamples>(p, from, x == 0 || p.center_chroma, tile);
      tile.Cut();
    }
#pragma unroll
    for (int row = 0; row < kTile; ++row) {
      const int64_t at = PlaneOffset(p.planes[0], frame, y + row, x);
      if constexpr (kYuv) {
        StoreLuma(p, at, row, tile);
        if (row % 2 != 0) continue;
        StoreChroma(p, factors, PlaneOffset(p.planes[1], frame, (y + row) / 2, x / 2),
                    PlaneOffset(p.planes[2], frame, (y + row) / 2, x / 2), row, tile);
      } else {
        StoreRgb(p.planes[0], at, row, tile);
      }
    }
  }
}

// Packed frames without gaps into packed pixels without gaps: `fours` times four elements.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    FrameRuns(const __grid_constant__ FrameConvertParams p, int64_t fours) {
  constexpr int kFours = 4;
  const int64_t step = int64_t{gridDim.x} * kThreads * kFours;
  for (int64_t first = int64_t{blockIdx.x} * kThreads * kFours + threadIdx.x; first < fours;
       first += step) {
    float values[kFours][kTile];
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
      if (first + i * kThreads < fours) LoadFour<T>(p, (first + i * kThreads) * kTile, values[i]);
    }
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
      if (first + i * kThreads >= fours) continue;
      const auto byte = [&](int k) { return RoundToByte(255.0f * values[i][k]); };
      reinterpret_cast<uint32_t*>(p.planes[0].data)[first + i * kThreads] =
          Bytes(byte(0), byte(1), byte(2), byte(3));
    }
  }
}

unsigned GridOf(int64_t jobs, int64_t per_block) {
  return static_cast<unsigned>(std::min<int64_t>((jobs + per_block - 1) / per_block, 0x7fffffff));
}

bool IsOneRun(const FrameConvertParams& p) {
  const FramePlane& out = p.planes[0];
  return !p.yuv && !p.patched && p.strides[3] == 1 && p.strides[2] == 3 &&
         p.strides[1] == 3 * p.width && p.strides[0] == p.height * p.strides[1] &&
         out.column == 3 && out.row == 3 * p.width && out.frame == p.height * out.row;
}

template <typename T, Samples kSamples>
void LaunchTiles(const FrameConvertParams& p, cudaStream_t stream) {
  const int64_t tiles = p.frames * (p.height / kTile) * (p.width / kTile);
  const unsigned grid = GridOf(tiles, kThreads);
  const ChromaFactors factors{p.chroma_scale / (2.0f * (1.0f - p.blue)),
                              p.chroma_scale / (2.0f * (1.0f - p.red))};
  if (p.yuv) {
    FrameTiles<T, kSamples, true><<<grid, kThreads, 0, stream>>>(p, factors, tiles);
  } else {
    FrameTiles<T, kSamples, false><<<grid, kThreads, 0, stream>>>(p, factors, tiles);
  }
}

template <typename T>
int32_t LaunchTyped(const FrameConvertParams& p, cudaStream_t stream) {
  if (IsOneRun(p)) {
    const int64_t fours = 3 * p.frames * p.height * p.width / kTile;
    FrameRuns<T><<<GridOf(fours, 4 * kThreads), kThreads, 0, stream>>>(p, fours);
  } else if (p.patched) {
    LaunchTiles<T, Samples::kPatched>(p, stream);
  } else if (p.strides[2] == 1) {
    LaunchTiles<T, Samples::kPlanar>(p, stream);
  } else {
    LaunchTiles<T, Samples::kPacked>(p, stream);
  }
  return cudaGetLastError();
}

}  // namespace

int32_t LaunchFrameConvertSm80(const FrameConvertParams& params, void* stream) {
  if (FrameJobs(params) == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.dtype, [&]<typename T>(T) { return LaunchTyped<T>(params, on); });
}

}  // namespace reel::kernels
