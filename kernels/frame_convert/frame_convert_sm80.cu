// SPDX-License-Identifier: Apache-2.0
// frame_convert for frames whose samples come in contiguous groups of four
// (FrameConvertTileAccepts).
//
// A thread handles a tile of 4x4 pixels in registers, read and written four samples at a time;
// packed frames to packed pixels are a plain run of elements. Bound by memory: each sample is read
// once, except for the column left of a tile, which chroma needs and the caches hold.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/frame_convert/frame_convert_tile.cuh"

namespace reel::kernels {
namespace {

constexpr int kLineTiles = 32;  // tiles of a warp
constexpr int kLines = 4;
constexpr int kThreads = kLineTiles * kLines;

// Rounds half to even and clamps to a byte; NaN becomes 0.
__device__ uint32_t RoundToByte(float value) {
  uint32_t byte;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(byte) : "f"(value));
  return byte;
}

__device__ uint32_t Bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Writes a line of a warp's tiles in packed pixels: `run` contiguous words. Each thread has three
// of them, and alone would write every third word of the run at a time.
__device__ void StoreRgbLine(uint8_t* line, int run, int row, const Tile& tile,
                             uint32_t (&words)[3 * kLineTiles]) {
  uint32_t bytes[3 * kTile];
#pragma unroll
  for (int i = 0; i < 3 * kTile; ++i) {
    bytes[i] = RoundToByte(255.0f * tile.at[i % 3][row][i / 3 + 1]);
  }
  const int lane = static_cast<int>(threadIdx.x);
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    words[3 * lane + i] = Bytes(bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]);
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int word = i * kLineTiles + lane;
    if (word < run) reinterpret_cast<uint32_t*>(line)[word] = words[word];
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

// The weight of a difference of colour and luma, in levels.
struct ChromaFactors {
  float blue;
  float red;
};

// The two chroma samples of two rows from `row` on, summed in the order of AroundSample.
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

template <typename T, Samples kSamples, bool kExact>
__device__ void TileToYuv(const FrameConvertParams& p, const ChromaFactors& factors, int64_t frame,
                          int64_t y, int64_t x) {
  const int64_t from = PixelOffset(p, frame, y, x, 0);
  Tile tile;
  LoadTile<T, kSamples, kExact>(p, from, tile);
  LoadLeftColumn<T, kSamples, kExact>(p, from, x == 0 || p.center_chroma, tile);
  tile.Cut();
#pragma unroll
  for (int row = 0; row < kTile; ++row) {
    StoreLuma(p, PlaneOffset(p.planes[0], frame, y + row, x), row, tile);
    if (row % 2 != 0) continue;
    StoreChroma(p, factors, PlaneOffset(p.planes[1], frame, (y + row) / 2, x / 2),
                PlaneOffset(p.planes[2], frame, (y + row) / 2, x / 2), row, tile);
  }
}

// All threads of a warp: those past the line load its last tile.
template <typename T, Samples kSamples, bool kExact>
__device__ void TilesToRgb(const FrameConvertParams& p, int64_t frame, int64_t y, int64_t first) {
  __shared__ uint32_t words[kLines][3 * kLineTiles];
  const int64_t tiles = std::min<int64_t>(p.width / kTile - first, kLineTiles);
  const int64_t mine = std::min<int64_t>(threadIdx.x, tiles - 1);
  Tile tile;
  LoadTile<T, kSamples, kExact>(p, PixelOffset(p, frame, y, (first + mine) * kTile, 0), tile);
#pragma unroll
  for (int row = 0; row < kTile; ++row) {
    StoreRgbLine(p.planes[0].data + PlaneOffset(p.planes[0], frame, y + row, first * kTile),
                 static_cast<int>(3 * tiles), row, tile, words[threadIdx.y]);
  }
}

// A block is kLineTiles tiles of each of kLines lines.
template <typename T, Samples kSamples, bool kYuv, bool kExact>
__global__ void __launch_bounds__(kThreads,
                                  sizeof(T) == 4 ? 4 : 1)  // otherwise ptxas spills a register
    FrameTiles(const __grid_constant__ FrameConvertParams p, ChromaFactors factors) {
  const int64_t first = int64_t{blockIdx.x} * kLineTiles;
  const int64_t y = (int64_t{blockIdx.y} * kLines + threadIdx.y) * kTile;
  if (y >= p.height) return;
  for (int64_t frame = blockIdx.z; frame < p.frames; frame += gridDim.z) {
    if constexpr (!kYuv) {
      TilesToRgb<T, kSamples, kExact>(p, frame, y, first);
    } else if (const int64_t x = (first + threadIdx.x) * kTile; x < p.width) {
      TileToYuv<T, kSamples, kExact>(p, factors, frame, y, x);
    }
  }
}

// Packed frames without gaps into packed pixels without gaps: `fours` times four elements.
template <typename T, bool kExact>
__global__ void __launch_bounds__(kThreads)
    FrameRuns(const __grid_constant__ FrameConvertParams p, int64_t fours) {
  constexpr int kFours = 4;
  const int64_t step = int64_t{gridDim.x} * kThreads * kFours;
  for (int64_t first = int64_t{blockIdx.x} * kThreads * kFours + threadIdx.x; first < fours;
       first += step) {
    float values[kFours][kTile];
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
      if (first + i * kThreads < fours) {
        LoadUnits<T, kExact>(p, (first + i * kThreads) * kTile, values[i]);
      }
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

template <typename T, Samples kSamples, bool kExact>
void LaunchTiles(const FrameConvertParams& p, cudaStream_t stream) {
  const dim3 block(kLineTiles, kLines);
  const dim3 grid(GridOf(p.width / kTile, kLineTiles), GridOf(p.height / kTile, kLines),
                  static_cast<unsigned>(std::min<int64_t>(p.frames, 65535)));
  const ChromaFactors factors{p.chroma_scale / (2.0f * (1.0f - p.blue)),
                              p.chroma_scale / (2.0f * (1.0f - p.red))};
  if (p.yuv) {
    FrameTiles<T, kSamples, true, kExact><<<grid, block, 0, stream>>>(p, factors);
  } else {
    FrameTiles<T, kSamples, false, kExact><<<grid, block, 0, stream>>>(p, factors);
  }
}

template <typename T, bool kExact>
int32_t LaunchTyped(const FrameConvertParams& p, cudaStream_t stream) {
  if (IsOneRun(p)) {
    const int64_t fours = 3 * p.frames * p.height * p.width / kTile;
    FrameRuns<T, kExact><<<GridOf(fours, 4 * kThreads), kThreads, 0, stream>>>(p, fours);
  } else if (p.patched) {
    LaunchTiles<T, Samples::kPatched, kExact>(p, stream);
  } else if (p.strides[2] == 1) {
    LaunchTiles<T, Samples::kPlanar, kExact>(p, stream);
  } else {
    LaunchTiles<T, Samples::kPacked, kExact>(p, stream);
  }
  return cudaGetLastError();
}

}  // namespace

int32_t LaunchFrameConvertSm80(const FrameConvertParams& params, void* stream) {
  if (FrameJobs(params) == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.dtype, [&]<typename T>(T) {
    // fp32 has only one rounding.
    if constexpr (sizeof(T) < 4) {
      if (!params.exact) return LaunchTyped<T, false>(params, on);
    }
    return LaunchTyped<T, true>(params, on);
  });
}

}  // namespace reel::kernels
