// SPDX-License-Identifier: Apache-2.0
// norm_linear on tensor cores (mma.sync), for rows of 16-byte pieces (NormLinearSm80Accepts).
//
// out = round( rstd * (x W'^T - mean * s) + b' ); x [rows, D], W' [outputs, D], fp16 or bf16, fp32
// sums. Blocks have tiles of 128 x 256 or 128 x 128 of the output. The sums and their order are the
// same, so device and number of tiles may decide. x passes through shared memory once a tile, both
// for the product and for its rows' moments; nothing is written but out. Bound by arithmetic: 2 *
// rows * outputs * D operations.
#include <algorithm>

#include "kernels/cuda/multiprocessors.cuh"
#include "kernels/mma/tensor_core.cuh"
#include "kernels/norm_linear/norm_linear_tile.cuh"

namespace reel::kernels {
namespace {

constexpr int kRowSteps = kWarpSide / 16;    // of an mma, across a warp's rows
constexpr int kOutputSteps = kWarpSide / 8;  // and its outputs
constexpr int kRowTilesTogether = 16;  // concurrent blocks share rows of x and of W' in the L2

struct Sm80Call {
  NormLinearParams p;
  int32_t row_tiles;
  int32_t output_tiles;
  bool vector_out;  // rows of out can be written 16 bytes at a time
};

__device__ inline TilePlace PlaceOfTile(const Sm80Call& call, int outputs) {
  const int tile = static_cast<int>(blockIdx.x);
  const int together = kRowTilesTogether * call.output_tiles;
  const int first = tile / together * kRowTilesTogether;
  const int rows = min(call.row_tiles - first, kRowTilesTogether);
  const int within = tile % together;
  return {int64_t{first + within % rows} * kTileRows, int64_t{within / rows} * outputs};
}

// A warp's next operands: 16 columns of its 64 rows and 64 outputs.
struct Operands {
  uint32_t x[kRowSteps][4];
  uint32_t weight[kOutputSteps / 2][4];
};

// The addresses of a lane's rows of those matrices in a stage.
struct OperandPlaces {
  uint32_t x;
  uint32_t weight;
};
__device__ inline OperandPlaces PlacesOf(int warp_row, int warp_output) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp_row * kWarpSide + lane % 16;
  const int output = warp_output * kWarpSide + lane % 8 + lane / 16 * 8;
  return {static_cast<uint32_t>(PieceAt(row, lane / 16)),
          static_cast<uint32_t>(kTileRows * kRowBytes + PieceAt(output, lane / 8 % 2))};
}

__device__ inline void LoadOperands(Operands& to, uint32_t stage, const OperandPlaces& places,
                                    int step) {
  // Pieces 2 and 3 instead of 0 and 1.
  const uint32_t x = stage + (places.x ^ (step * 32u));
  const uint32_t weight = stage + (places.weight ^ (step * 32u));
#pragma unroll
  for (int i = 0; i < kRowSteps; ++i) LoadMatrices(to.x[i], x + i * 16 * kRowBytes);
#pragma unroll
  for (int i = 0; i < kOutputSteps / 2; ++i) {
    LoadMatrices(to.weight[i], weight + i * 16 * kRowBytes);
  }
}

using Sums = float[kRowSteps][kOutputSteps][4];

template <typename T>
__device__ inline void MultiplyAll(Sums& sums, const Operands& operands) {
#pragma unroll
  for (int i = 0; i < kRowSteps; ++i) {
#pragma unroll
    for (int j = 0; j < kOutputSteps; ++j) {
      const uint32_t* weight = operands.weight[j / 2] + j % 2 * 2;
      MultiplyAdd<T>(sums[i][j], operands.x[i], weight[0], weight[1]);
    }
  }
}

// Loads {b', s} of the tile's outputs; nothing for those past the last.
template <typename T, int kAcross>
__device__ inline void StageVectors(const NormLinearParams& p, int64_t first_output,
                                    float2* vectors) {
  static_assert(TileShape<kAcross>::kThreads == TileShape<kAcross>::kOutputs);
  float bias[1] = {0}, sum[1] = {0};
  const int64_t output = first_output + threadIdx.x;
  if (output < p.outputs) {
    LoadVector<T>(PointAtVector(p.bias), output, kNoAddend, bias);
    LoadVector<T>(PointAtVector(p.sums), output, 0.0f, sum);
  }
  vectors[threadIdx.x] = {bias[0], sum[0]};
}

// Writes the warp's 64 x 64 finished outputs to its own 8 KB of shared memory. Rows have 128 bytes;
// piece c of row r is at c ^ (r % 8).
template <typename T, bool kCentred>
__device__ inline void Finish(const Sums& sums, const float2* norms, const float2* vectors,
                              unsigned char* staged) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int j = 0; j < kOutputSteps; ++j) {
    // Of two outputs: b', s, b', s.
    const float4 two = *reinterpret_cast<const float4*>(vectors + j * 8 + lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < 2 * kRowSteps; ++i) {
      const int row = i * 8 + lane / 4;
      const float2 norm = norms[row];
      float low = sums[i / 2][j][i % 2 * 2];
      float high = sums[i / 2][j][i % 2 * 2 + 1];
      if constexpr (kCentred) {
        low = fmaf(-norm.y, two.y, low);
        high = fmaf(-norm.y, two.w, high);
      }
      *reinterpret_cast<uint32_t*>(staged + row * 128 + ((j ^ (row % 8)) * 16) + lane % 4 * 4) =
          PackTwo<T>(fmaf(norm.x, low, two.x), fmaf(norm.x, high, two.z));
    }
  }
}

// Copies them from there to out, eight lanes a row.
template <typename T>
__device__ inline void StoreTile(const Sm80Call& call, const TilePlace& place,
                                 const unsigned char* staged) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t output = place.output + lane % 8 * 8;
#pragma unroll 1
  for (int i = 0; i < kWarpSide / 4; ++i) {
    const int row = i * 4 + lane / 8;
    if (place.row + row >= call.p.shape.rows) continue;
    const uint4 raw =
        *reinterpret_cast<const uint4*>(staged + row * 128 + ((lane % 8 ^ (row % 8)) * 16));
    const RowPlace at = PlaceOf(call.p.shape, place.row + row);
    T* out = reinterpret_cast<T*>(PointAt(call.p.shape, call.p.out, at).data);
    if (call.vector_out && output + 8 <= call.p.outputs) {
      *reinterpret_cast<uint4*>(out + output) = raw;
    } else {
      const T* typed = reinterpret_cast<const T*>(&raw);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        if (output + k < call.p.outputs) out[(output + k) * call.p.out.inner] = typed[k];
      }
    }
  }
}

template <typename T, bool kCentred, int kAcross>
__global__ void __launch_bounds__(TileShape<kAcross>::kThreads, kAcross == 4 ? 1 : 2)
    NormLinearTile(const __grid_constant__ Sm80Call call) {
  using Shape = TileShape<kAcross>;
  extern __shared__ __align__(128) unsigned char shared[];
  auto* norms = reinterpret_cast<float2*>(shared + Shape::kNormsAt);
  auto* vectors = reinterpret_cast<float2*>(shared + Shape::kVectorsAt);
  const uint32_t base = SharedAddress(shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % 2;
  const int warp_output = warp / 2;
  const TilePlace place = PlaceOfTile(call, Shape::kOutputs);
  const int64_t width = call.p.shape.width;
  const int stages = static_cast<int>((width + kDepth - 1) / kDepth);

  StageLoader<T, kAcross> loader(call.p, place, base);
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < stages) loader.Load(s);
    CommitCopies();
  }
  StageVectors<T, kAcross>(call.p, place.output, vectors);
  AwaitCopies<kStages - 2>();
  __syncthreads();

  const OperandPlaces places = PlacesOf(warp_row, warp_output);
  TileMoments<T, kCentred, kAcross> moments;
  Operands operands[2];
  Sums sums = {};
  LoadOperands(operands[0], base, places, 0);
  for (int s = 0; s < stages; ++s) {
    const int slot = s % kStages;
    LoadOperands(operands[1], base + slot * Shape::kStageBytes, places, 1);
    // Loads into the slot of the previous stage: the barrier below follows all reads of it.
    if (s + kStages - 1 < stages) loader.Load((s + kStages - 1) % kStages);
    CommitCopies();
    MultiplyAll<T>(sums, operands[0]);
    moments.Add(shared + slot * Shape::kStageBytes, width - int64_t{s} * kDepth);
    AwaitCopies<kStages - 2>();
    __syncthreads();  // the next stage is ready for all
    LoadOperands(operands[0], base + (s + 1) % kStages * Shape::kStageBytes, places, 0);
    MultiplyAll<T>(sums, operands[1]);
  }
  moments.Store(width, call.p.eps, norms);
  AwaitCopies<0>();
  __syncthreads();  // the norms are ready, and the stages can be overwritten

  const TilePlace own = {place.row + warp_row * kWarpSide, place.output + warp_output * kWarpSide};
  unsigned char* staged = shared + warp * (kWarpSide * kWarpSide * 2);
  Finish<T, kCentred>(sums, norms + warp_row * kWarpSide, vectors + warp_output * kWarpSide,
                      staged);
  __syncwarp();
  StoreTile<T>(call, own, staged);
}

int64_t Tiles(int64_t size, int64_t side) { return (size + side - 1) / side; }

// Whether tiles of 128 x 256 finish sooner: one fills a multiprocessor, as do two of 128 x 128,
// which load a third more for the same work.
bool LargeTilesEndSooner(const NormLinearParams& p, int processors) {
  const auto rounds = [&](int64_t outputs, int64_t at_once) {
    return Tiles(Tiles(p.shape.rows, kTileRows) * Tiles(p.outputs, outputs), at_once);
  };
  return 2.0 * static_cast<double>(rounds(256, processors)) <=
         1.1 * static_cast<double>(rounds(128, processors));
}

bool FitsVectorOut(const NormLinearParams& p) {
  const auto aligned = [](int64_t elements) { return elements % 8 == 0; };
  return p.out.inner == 1 && reinterpret_cast<uintptr_t>(p.out.data) % 16 == 0 &&
         std::all_of(p.out.strides, p.out.strides + p.shape.dims, aligned);
}

template <typename T, bool kCentred, int kAcross>
cudaError_t LaunchTiles(const NormLinearParams& params, cudaStream_t stream) {
  using Shape = TileShape<kAcross>;
  const int64_t row_tiles = Tiles(params.shape.rows, kTileRows);
  const int64_t output_tiles = Tiles(params.outputs, Shape::kOutputs);
  if (row_tiles > 0x7fffffff / kRowTilesTogether / output_tiles) {
    return cudaErrorInvalidConfiguration;
  }
  const auto kernel = NormLinearTile<T, kCentred, kAcross>;
  const cudaError_t error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kSharedBytes);
  if (error != cudaSuccess) return error;
  const Sm80Call call{params, static_cast<int32_t>(row_tiles), static_cast<int32_t>(output_tiles),
                      FitsVectorOut(params)};
  kernel<<<static_cast<unsigned>(row_tiles * output_tiles), Shape::kThreads, Shape::kSharedBytes,
           stream>>>(call);
  return cudaGetLastError();
}

template <typename T>
int32_t LaunchTyped(const NormLinearParams& params, cudaStream_t stream) {
  int multiprocessors = 0;
  const cudaError_t error = CountMultiprocessors(multiprocessors);
  if (error != cudaSuccess) return error;
  const bool centred = params.sums.data != nullptr;
  if (LargeTilesEndSooner(params, multiprocessors)) {
    return centred ? LaunchTiles<T, true, 4>(params, stream)
                   : LaunchTiles<T, false, 4>(params, stream);
  }
  return centred ? LaunchTiles<T, true, 2>(params, stream)
                 : LaunchTiles<T, false, 2>(params, stream);
}

}  // namespace

int32_t LaunchNormLinearSm80(const NormLinearParams& params, void* stream) {
  if (params.shape.rows == 0 || params.outputs == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  switch (params.x.dtype) {
    case Dtype::kF16:
      return LaunchTyped<__half>(params, on);
    case Dtype::kBf16:
      return LaunchTyped<__nv_bfloat16>(params, on);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace reel::kernels
