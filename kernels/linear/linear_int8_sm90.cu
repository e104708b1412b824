// SPDX-License-Identifier: Apache-2.0
// linear in 8 bits: out = (x W^T) x_scale weight_scale + b, x [R, D] and W [O, D] in int8, out of
// fp16 or bf16 (LinearInt8Accepts). Sums are exact, so a row has the same bits in every tile.
//
// A block computes tiles of 128 rows by kColumns outputs, one after the other. A thread of a
// warpgroup of its own copies pieces of 128 bytes of D into a ring; two other warpgroups multiply,
// 64 rows each. Scales and biases are loaded at a tile's beginning, and its outputs are stored by
// the copy engine, so that little time passes between two tiles' products. On one H100 at its 700 W
// limit 2 to 9 % faster than cublasLt in e4m3, 1,085 to 1,370 TFLOP/s (README).
#include <algorithm>

#include "kernels/cuda/multiprocessors.cuh"
#include "kernels/cuda/overlap.cuh"
#include "kernels/linear/int8_memory.cuh"
#include "kernels/linear/int8_tiles.cuh"
#include "kernels/linear/linear_launch.h"
#include "kernels/mma/bulk_copy.cuh"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/mma/tensor_copy.cuh"
#include "kernels/mma/tensor_core.cuh"
#include "kernels/mma/warpgroup.cuh"
#include "kernels/mma/warpgroup_int8.cuh"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 128 * (kProductGroups + 1);

struct Int8Params {
  int32_t rows, outputs, pieces;  // of D
  TileOrder order;
  const float* x_scale;
  const float* weight_scale;
  const void* bias;
  bool goes_on;  // the previous launch belongs to the same call
  int64_t x_scale_stride, weight_scale_stride, bias_stride;
  bool fp32_bias;
};

template <int kColumns>
__device__ inline void BringTiles(const Int8Memory<kColumns>& shared, const Int8Params& p,
                                  const CUtensorMap& x, const CUtensorMap& weight) {
  using S = Int8Memory<kColumns>;
  RingPlace<S::kStages> place;
  for (int tile = blockIdx.x; tile < p.order.tiles(); tile += gridDim.x) {
    const Int8TilePlace at(p.order, tile);
    const int row = at.row * kInt8TileRows, output = at.column * kColumns;
    for (int piece = 0; piece < p.pieces; ++piece) {
      Await(shared.Empty(place.stage), place.parity ^ 1);
      const uint32_t full = shared.Full(place.stage);
      ArriveAndAnnounce(full, S::kStageBytes);
      CopyRectangle(shared.X(place.stage), x, piece * kPieceDepth, row, full);
      CopyRectangle(shared.Weight(place.stage), weight, piece * kPieceDepth, output, full);
      place.Advance();
    }
  }
}

// Multiplies all pieces of a tile, for the 64 rows of this warpgroup.
template <int kColumns>
__device__ inline void MultiplyTile(const Int8Memory<kColumns>& shared, const Int8Params& p,
                                    int group, bool first_thread,
                                    RingPlace<Int8Memory<kColumns>::kStages>& place,
                                    int32_t (&sums)[kColumns / 2]) {
  uint32_t before = 0;  // the stage whose products may still run; 0: none
  for (int piece = 0; piece < p.pieces; ++piece) {
    Await(shared.Full(place.stage), place.parity);
    const uint64_t x = SwizzledMatrix(shared.X(place.stage) + group * kProductRows * kPieceDepth);
    const uint64_t weight = SwizzledMatrix(shared.Weight(place.stage));
    BeginProducts();
#pragma unroll
    for (int part = 0; part < kPieceDepth / 32; ++part) {
      MultiplyInt8(sums, x + part * kNextInt8, weight + part * kNextInt8, piece + part > 0);
    }
    CommitProducts();
    AwaitProductGroups<1>();
    if (before != 0 && first_thread) Arrive(before);
    before = shared.Empty(place.stage);
    place.Advance();
  }
  AwaitProductGroups<0>();
  if (first_thread) Arrive(before);
}

template <typename T>
__device__ inline OutputBeside BesideAt(const Int8Params& p, int output) {
  if (output >= p.outputs) return {0, 0};
  OutputBeside beside = {p.weight_scale[output * p.weight_scale_stride], 0};
  if (p.bias != nullptr) {
    const int64_t at = output * p.bias_stride;
    beside.bias = p.fp32_bias ? static_cast<const float*>(p.bias)[at]
                              : ToFp32(static_cast<const T*>(p.bias)[at]);
  }
  return beside;
}

// A barrier for all warps of a warpgroup that multiplies.
__device__ inline void SyncGroup(int group) {
  asm volatile("bar.sync %0, 128;" : : "r"(group + 1) : "memory");
}

template <typename T>
__device__ inline uint32_t TwoOutputs(int32_t low, int32_t high, float scale,
                                      const float4& beside) {
  return PackTwo<T>(fmaf(static_cast<float>(low) * scale, beside.x, beside.y),
                    fmaf(static_cast<float>(high) * scale, beside.z, beside.w));
}

// Stores the tile's outputs, 64 columns at a time, through two buffers in turn.
template <typename T, int kColumns>
__device__ inline void StoreTile(const Int8Memory<kColumns>& shared, const CUtensorMap& out,
                                 int group, int row, int output, int outputs,
                                 const float (&row_scale)[2], const int32_t (&sums)[kColumns / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % 128, warp = thread / 32, lane = thread % 32;
  const uint32_t besides =
      shared.BesideOf(group) + 2 * (lane % 4) * static_cast<uint32_t>(sizeof(OutputBeside));
#pragma unroll
  for (int box = 0; box < kColumns / kBoxColumns; ++box) {
    if (thread == 0) AwaitStoresRead<1>();  // of the box before the last
    SyncGroup(group);
    const uint32_t to = shared.Box(group, box);
#pragma unroll
    for (int eight = 0; eight < kBoxColumns / 8; eight += 2) {
      uint32_t words[4];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int j = box * kBoxColumns / 8 + eight + half;
        const float4 beside =
            LoadBesides(besides + 8 * j * static_cast<uint32_t>(sizeof(OutputBeside)));
        words[2 * half] = TwoOutputs<T>(sums[4 * j], sums[4 * j + 1], row_scale[0], beside);
        words[2 * half + 1] = TwoOutputs<T>(sums[4 * j + 2], sums[4 * j + 3], row_scale[1], beside);
      }
      StoreMatrices(words, to + SwizzledPiece(16 * warp + lane % 16, eight + lane / 16));
    }
    PublishToCopies();
    SyncGroup(group);
    if (thread == 0) {
      const int column = output + box * kBoxColumns;
      if (column < outputs) StoreRectangle(to, out, column, row);
      CommitStores();
    }
  }
}

template <typename T, int kColumns>
__global__ void __launch_bounds__(kThreads, 1)
    LinearInt8(const __grid_constant__ Int8Params p, const __grid_constant__ CUtensorMap x,
               const __grid_constant__ CUtensorMap weight,
               const __grid_constant__ CUtensorMap out) {
  using S = Int8Memory<kColumns>;
  extern __shared__ unsigned char memory[];
  const S shared(memory);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < S::kStages; ++stage) {
      MakeBarrier(shared.Full(stage), 1);
      MakeBarrier(shared.Empty(stage), kProductGroups);
    }
    PublishBarriers();
  }
  __syncthreads();
  // The work before the call's first launch had ended before this launch could start.
  if (!p.goes_on) AwaitKernelAhead<true>();
  LetNextKernelBegin<true>();
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    GiveRegisters<40>();
    if (threadIdx.x == 0) BringTiles(shared, p, x, weight);
    return;
  }
  TakeRegisters<232>();
  constexpr int kBesides = (kColumns + 127) / 128;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  RingPlace<S::kStages> place;
  int32_t sums[kColumns / 2];
  for (int tile = blockIdx.x; tile < p.order.tiles(); tile += gridDim.x) {
    const Int8TilePlace own(p.order, tile);
    const int row = own.row * kInt8TileRows + group * kProductRows;
    const int output = own.column * kColumns;
    float row_scale[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = row + thread / 32 * 16 + thread % 32 / 4 + 8 * i;
      row_scale[i] = at < p.rows ? p.x_scale[at * p.x_scale_stride] : 0;
    }
    OutputBeside beside[kBesides];
#pragma unroll
    for (int i = 0; i < kBesides; ++i) beside[i] = BesideAt<T>(p, output + 128 * i + thread);
    MultiplyTile(shared, p, group, thread == 0, place, sums);
    // The others have read the previous tile's factors: their last box is behind a barrier.
#pragma unroll
    for (int i = 0; i < kBesides; ++i) {
      const int column = 128 * i + thread;
      if (column < kColumns) {
        StoreBeside(shared.BesideOf(group) + column * static_cast<uint32_t>(sizeof(OutputBeside)),
                    beside[i]);
      }
    }
    StoreTile<T>(shared, out, group, row, output, p.outputs, row_scale, sums);
  }
  if (thread == 0) AwaitStoresRead<0>();  // or another block would get this memory
  // A kernel that waits for this launch waits for both.
  if (p.goes_on) AwaitKernelAhead<true>();
}

struct Launches {
  int multiprocessors;
  bool goes_on = false;  // follows another launch of the same call
};

template <typename T>
constexpr CUtensorMapDataType kOutType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
template <>
constexpr CUtensorMapDataType kOutType<__half> = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;

// A single row has no stride; any value works.
inline int64_t StrideOf(const RowOperand& operand, int64_t width) {
  return operand.strides[0] == 0 ? width : operand.strides[0];
}

template <typename T, int kColumns>
int32_t Launch(const LinearParams& params, const Launches& launches, cudaStream_t stream) {
  CUtensorMap x, weight, out;
  const int64_t width = params.shape.width, rows = params.shape.rows;
  cudaError_t error = MakeTensorMap({params.x.data, rows, width, StrideOf(params.x, width)},
                                    CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, kInt8TileRows, x);
  if (error != cudaSuccess) return error;
  error = MakeTensorMap({params.weight.data, params.outputs, width, StrideOf(params.weight, width)},
                        CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, kColumns, weight);
  if (error != cudaSuccess) return error;
  error = MakeTensorMap(
      {params.out.data, rows, params.outputs, 2 * StrideOf(params.out, params.outputs)},
      kOutType<T>, 2, kProductRows, out);
  if (error != cudaSuccess) return error;
  const auto kernel = LinearInt8<T, kColumns>;
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               Int8Memory<kColumns>::kBytes);
  if (error != cudaSuccess) return error;
  const TileOrder order = OrderOf(rows, width, params.outputs, kColumns);
  const Int8Params p = {.rows = static_cast<int32_t>(rows),
                        .outputs = static_cast<int32_t>(params.outputs),
                        .pieces = static_cast<int32_t>((width + kPieceDepth - 1) / kPieceDepth),
                        .order = order,
                        .x_scale = static_cast<const float*>(params.x_scale.data),
                        .weight_scale = static_cast<const float*>(params.weight_scale.data),
                        .bias = params.bias.data,
                        .goes_on = launches.goes_on,
                        .x_scale_stride = params.x_scale.strides[0],
                        .weight_scale_stride = params.weight_scale.inner,
                        .bias_stride = params.bias.inner,
                        .fp32_bias = params.bias.dtype == Dtype::kF32};
  const auto blocks = static_cast<unsigned>(std::min(order.tiles(), launches.multiprocessors));
  return LaunchKernel<true>({.blocks = dim3(blocks),
                             .threads = kThreads,
                             .shared_bytes = Int8Memory<kColumns>::kBytes,
                             .stream = stream},
                            kernel, p, x, weight, out);
}

template <typename T>
int32_t LaunchInTiles(const LinearParams& params, int columns, const Launches& launches,
                      cudaStream_t stream) {
  switch (columns) {
    case 256:
      return Launch<T, 256>(params, launches, stream);
    case 192:
      return Launch<T, 192>(params, launches, stream);
    case 128:
      return Launch<T, 128>(params, launches, stream);
    default:
      return Launch<T, 64>(params, launches, stream);
  }
}

RowOperand From(const RowOperand& operand, int64_t row) {
  RowOperand from = operand;
  from.data =
      static_cast<char*>(operand.data) + row * operand.strides[0] * DtypeSize(operand.dtype);
  return from;
}

template <typename T>
int32_t LaunchTyped(const LinearParams& params, cudaStream_t stream) {
  int multiprocessors = 0;
  const cudaError_t error = CountMultiprocessors(multiprocessors);
  if (error != cudaSuccess) return error;
  const int64_t rows = params.shape.rows, outputs = params.outputs;
  const RowCut cut = BestCut(rows, params.shape.width, outputs, multiprocessors);
  LinearParams part = params;
  part.shape.rows = cut.first_rows;
  const int32_t first = LaunchInTiles<T>(part, cut.first_columns, {multiprocessors}, stream);
  if (first != cudaSuccess || cut.first_rows == rows) return first;
  part.shape.rows = rows - cut.first_rows;
  part.x = From(params.x, cut.first_rows);
  part.x_scale = From(params.x_scale, cut.first_rows);
  part.out = From(params.out, cut.first_rows);
  return LaunchInTiles<T>(part, BestColumns(part.shape.rows, outputs, multiprocessors),
                          {multiprocessors, true}, stream);
}

}  // namespace

int32_t LaunchLinearInt8Sm90(const LinearParams& params, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  return params.out.dtype == Dtype::kF16 ? LaunchTyped<__half>(params, on)
                                         : LaunchTyped<__nv_bfloat16>(params, on);
}

}  // namespace reel::kernels
