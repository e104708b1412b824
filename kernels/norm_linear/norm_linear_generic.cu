// SPDX-License-Identifier: Apache-2.0
// norm_linear on ordinary cores: any type, strides and alignment, from sm_75 on.
//
// A block of 256 threads makes 64 rows by 64 outputs, a thread 4 by 4 of them; 16 columns at a time
// pass through shared memory as fp32. A row's columns come in by four threads, which keep its
// moments meanwhile: x is read once a tile, and nothing is written but out.
#include "kernels/norm_linear/norm_linear_launch.h"
#include "kernels/norm_linear/row_moments.cuh"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kSide = 64;
constexpr int kColumns = 16;
constexpr int kThreads = 256;
constexpr int kPerThread = 4;
constexpr int kPadded = kSide + 8;  // puts four columns of eight rows into different banks

using Columns = float[kColumns][kPadded];

// Four columns of one row of x or of W', 4 apart; zeros past the last.
template <typename T>
__device__ inline void Fetch(const RowPointer& row, int64_t column, int64_t width,
                             float (&values)[kPerThread]) {
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int64_t at = column + k * kPerThread;
    values[k] = row.data != nullptr && at < width
                    ? ToFp32(reinterpret_cast<const T*>(row.data)[at * row.inner])
                    : 0.0f;
  }
}

// Adds the sums of these columns, computed separately: adding D terms one by one would lose more to
// large early ones.
__device__ inline void Multiply(const Columns& x, const Columns& weight,
                                float (&sums)[kPerThread][kPerThread]) {
  const int row = static_cast<int>(threadIdx.x) / kColumns * kPerThread;
  const int output = static_cast<int>(threadIdx.x) % kColumns * kPerThread;
  float part[kPerThread][kPerThread] = {};
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const float4 a = *reinterpret_cast<const float4*>(&x[c][row]);
    const float4 b = *reinterpret_cast<const float4*>(&weight[c][output]);
    const float rows[kPerThread] = {a.x, a.y, a.z, a.w};
    const float outputs[kPerThread] = {b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) part[i][j] = fmaf(rows[i], outputs[j], part[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) sums[i][j] += part[i][j];
  }
}

// Sums over the four threads that share a row, in their order.
template <bool kCentred>
__device__ inline RowMoments<kCentred> WholeRow(const RowMoments<kCentred>& own) {
  const int first = static_cast<int>(threadIdx.x) % 32 / kPerThread * kPerThread;
  RowMoments<kCentred> whole = own.OfLane(first);
#pragma unroll
  for (int i = 1; i < kPerThread; ++i) whole.Append(own.OfLane(first + i));
  return whole;
}

template <typename T>
__device__ inline void Store(const NormLinearParams& p, int64_t first_row, int64_t first_output,
                             const float2* norms, const float (&sums)[kPerThread][kPerThread]) {
  const int tile_row = static_cast<int>(threadIdx.x) / kColumns * kPerThread;
  const int tile_output = static_cast<int>(threadIdx.x) % kColumns * kPerThread;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    if (first_row + tile_row + i >= p.shape.rows) return;
    const RowPlace place = PlaceOf(p.shape, first_row + tile_row + i);
    const RowPointer out = PointAt(p.shape, p.out, place);
    const float2 norm = norms[tile_row + i];
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const int64_t output = first_output + tile_output + j;
      if (output >= p.outputs) break;
      float bias[1], of_weight[1];
      LoadVector<T>(PointAtVector(p.bias), output, kNoAddend, bias);
      LoadVector<T>(PointAtVector(p.sums), output, 0.0f, of_weight);
      const float sum = fmaf(-norm.y, of_weight[0], sums[i][j]);
      const float value[1] = {fmaf(norm.x, sum, bias[0])};
      StoreRow<T>(out, output, value);
    }
  }
}

template <typename T, bool kCentred>
__global__ void __launch_bounds__(kThreads)
    NormLinearAny(const __grid_constant__ NormLinearParams p, int64_t output_tiles) {
  __shared__ __align__(16) Columns x;
  __shared__ __align__(16) Columns weight;
  __shared__ float2 norms[kSide];
  const int64_t first_row = int64_t{blockIdx.x} / output_tiles * kSide;
  const int64_t first_output = int64_t{blockIdx.x} % output_tiles * kSide;
  const int mine = static_cast<int>(threadIdx.x) / kPerThread;
  const int column = static_cast<int>(threadIdx.x) % kPerThread;
  RowPointer x_row{nullptr, 0, false};
  if (first_row + mine < p.shape.rows) {
    x_row = PointAt(p.shape, p.x, PlaceOf(p.shape, first_row + mine));
  }
  RowPointer weight_row = PointAtVector(p.weight);
  weight_row.data =
      first_output + mine < p.outputs
          ? weight_row.data + (first_output + mine) * p.weight.strides[0] * int64_t{sizeof(T)}
          : nullptr;
  RowMoments<kCentred> moments;
  float sums[kPerThread][kPerThread] = {};
  for (int64_t c = 0; c < p.shape.width; c += kColumns) {
    float from_x[kPerThread], from_weight[kPerThread];
    Fetch<T>(x_row, c + column, p.shape.width, from_x);
    Fetch<T>(weight_row, c + column, p.shape.width, from_weight);
    const int64_t left = (p.shape.width - c - column + kPerThread - 1) / kPerThread;
    moments.Add(from_x, static_cast<int>(min(left, int64_t{kPerThread})));
    __syncthreads();  // the columns before these have been used
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      x[column + k * kPerThread][mine] = from_x[k];
      weight[column + k * kPerThread][mine] = from_weight[k];
    }
    __syncthreads();
    Multiply(x, weight, sums);
  }
  const RowMoments<kCentred> whole = WholeRow(moments);
  if (column == 0) norms[mine] = {RstdOf(whole.squares, p.shape.width, p.eps), whole.mean};
  __syncthreads();
  Store<T>(p, first_row, first_output, norms, sums);
}

}  // namespace

int32_t LaunchNormLinearGeneric(const NormLinearParams& params, void* stream) {
  if (params.shape.rows == 0 || params.outputs == 0) return cudaSuccess;
  const int64_t row_tiles = (params.shape.rows + kSide - 1) / kSide;
  const int64_t output_tiles = (params.outputs + kSide - 1) / kSide;
  if (row_tiles > 0x7fffffff / output_tiles) return cudaErrorInvalidConfiguration;
  const auto grid = static_cast<unsigned>(row_tiles * output_tiles);
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) {
    if (params.sums.data != nullptr) {
      NormLinearAny<T, true><<<grid, kThreads, 0, on>>>(params, output_tiles);
    } else {
      NormLinearAny<T, false><<<grid, kThreads, 0, on>>>(params, output_tiles);
    }
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
