// SPDX-License-Identifier: Apache-2.0
// The shape of norm_linear's tiles on tensor cores, and how they lie in shared memory. For .cu
// files.
//
// A block of 2 x kAcross warps makes a tile of 128 rows and 64 * kAcross outputs; a warp makes 64 x
// 64 of it. Columns of x pass by 32 at a time: a stage holds 32 columns of the tile's rows of x and
// then of W', 64 bytes a row. Piece c of the four 16-byte pieces of row r is at c ^ (r / 2 % 4).
// So eight rows that ldmatrix reads together touch every bank once, and so do two rows that a
// quarter of a warp writes.
#pragma once

#include "kernels/mma/shared_memory.cuh"
#include "kernels/norm_linear/norm_linear_launch.h"
#include "kernels/norm_linear/row_moments.cuh"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

inline constexpr int kTileRows = 128;
inline constexpr int kWarpSide = 64;
inline constexpr int kDepth = 32;
inline constexpr int kStages = 4;
inline constexpr int kRowBytes = 2 * kDepth;
inline constexpr int kPieces = kRowBytes / 16;

template <int kAcross>
struct TileShape {
  static constexpr int kThreads = 64 * kAcross;
  static constexpr int kOutputs = kWarpSide * kAcross;
  static constexpr int kStageBytes = (kTileRows + kOutputs) * kRowBytes;
  // The stages, {rstd, mean} of the rows, {b', s} of the outputs.
  static constexpr int kNormsAt = kStages * kStageBytes;
  static constexpr int kVectorsAt = kNormsAt + kTileRows * sizeof(float2);
  static constexpr int kSharedBytes = kVectorsAt + kOutputs * sizeof(float2);
};

// Bytes of a stage, or of its part for W'.
__device__ inline int PieceAt(int row, int piece) {
  return row * kRowBytes + ((piece ^ (row / 2 % kPieces)) * 16);
}

struct TilePlace {
  int64_t row;     // the first of the tile
  int64_t output;  // the first of the tile
};

// Copies stages to shared memory: every thread the same piece of every n-th row. Rows and outputs
// past the last repeat the last; their results are not stored.
template <typename T, int kAcross>
class StageLoader {
 public:
  __device__ StageLoader(const NormLinearParams& p, const TilePlace& place, uint32_t shared)
      : width_(p.shape.width) {
    const int row = static_cast<int>(threadIdx.x) / kPieces;
    const int piece = static_cast<int>(threadIdx.x) % kPieces;
    column_ = piece * 8;
    to_ = shared + static_cast<uint32_t>(PieceAt(row, piece));
#pragma unroll
    for (int i = 0; i < kXRows; ++i) {
      const int64_t mine = min(place.row + row + i * kStep, p.shape.rows - 1);
      x_[i] =
          reinterpret_cast<const T*>(PointAt(p.shape, p.x, PlaceOf(p.shape, mine)).data) + column_;
    }
#pragma unroll
    for (int i = 0; i < kWeightRows; ++i) {
      const int64_t mine = min(place.output + row + i * kStep, p.outputs - 1);
      weight_[i] = static_cast<const T*>(p.weight.data) + mine * p.weight.strides[0] + column_;
    }
  }

  // The next 32 columns; zeros past the last.
  __device__ void Load(int stage) {
    const uint32_t to = to_ + static_cast<uint32_t>(stage * Shape::kStageBytes);
    const bool there = column_ < width_;
#pragma unroll
    for (int i = 0; i < kXRows; ++i) {
      CopyAsync16(to + i * kStep * kRowBytes, x_[i], there);
      x_[i] += kDepth;
    }
#pragma unroll
    for (int i = 0; i < kWeightRows; ++i) {
      CopyAsync16(to + (kTileRows + i * kStep) * kRowBytes, weight_[i], there);
      weight_[i] += kDepth;
    }
    column_ += kDepth;
  }

 private:
  using Shape = TileShape<kAcross>;
  static constexpr int kStep = Shape::kThreads / kPieces;
  static_assert(kStep % 8 == 0, "every row of a thread has its piece at the same place");
  static constexpr int kXRows = kTileRows / kStep;
  static constexpr int kWeightRows = Shape::kOutputs / kStep;

  const T* x_[kXRows];
  const T* weight_[kWeightRows];
  int64_t width_;
  int64_t column_;
  uint32_t to_;
};

// The moments of the tile's rows, from the stages as they pass. A row is summed in two halves of 16
// columns each, by two threads or by one after the other, with the same bits.
template <typename T, bool kCentred, int kAcross>
class TileMoments {
 public:
  __device__ TileMoments()
      : row_(static_cast<int>(threadIdx.x) / kPerRow),
        half_(static_cast<int>(threadIdx.x) % kPerRow) {}

  // `left`: columns of x from this stage on. Whole stages have code of their own: skipping columns
  // costs a layer norm as much as adding them.
  __device__ void Add(const unsigned char* stage, int64_t left) {
    if (!kCentred || left >= kDepth) {
      AddStage<true>(stage, kDepth);
    } else {
      AddStage<false>(stage, static_cast<int>(left));
    }
  }

  // {rstd, mean} of each row of the tile. All threads of a warp must call it.
  __device__ void Store(int64_t width, float eps, float2* norms) {
    RowMoments<kCentred> whole = moments_[0];
    if constexpr (kPerRow == 1) {
      whole.Append(moments_[1]);
    } else {
      const int first = static_cast<int>(threadIdx.x) % 32 / 2 * 2;
      whole = moments_[0].OfLane(first);
      whole.Append(moments_[0].OfLane(first + 1));
    }
    if (half_ == 0) norms[row_] = {RstdOf(whole.squares, width, eps), whole.mean};
  }

 private:
  static constexpr int kPerRow = TileShape<kAcross>::kThreads / kTileRows;
  static_assert(kPerRow == 1 || kPerRow == 2);
  static constexpr int kHalves = 2 / kPerRow;

  template <bool kWhole>
  __device__ void AddStage(const unsigned char* stage, int left) {
#pragma unroll
    for (int i = 0; i < kHalves; ++i) {
      const int half = half_ + i;
      float values[16];
#pragma unroll
      for (int piece = 0; piece < 2; ++piece) {
        const uint4 raw = *reinterpret_cast<const uint4*>(stage + PieceAt(row_, 2 * half + piece));
        const T* typed = reinterpret_cast<const T*>(&raw);
#pragma unroll
        for (int k = 0; k < 8; ++k) values[8 * piece + k] = ToFp32(typed[k]);
      }
      moments_[i].Add(values, kWhole ? 16 : min(left - 16 * half, 16));
    }
  }

  RowMoments<kCentred> moments_[kHalves];
  int row_;
  int half_;
};

}  // namespace reel::kernels
