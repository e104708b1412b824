// SPDX-License-Identifier: Apache-2.0
// rope_1d and rope_3d on any device.
//
// q, k [B,S,N,Dh] of any strides; fp64 angles, rounded to fp32; products in fp32. A block is one
// token of q or k: it makes the table of kPairs pairs at a time in shared memory, then turns them
// in all heads. A pair is one thread's, so writing in place is safe. Bound by memory: every element
// is read and written once.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/rope/rope_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kPairs = 128;

template <typename T>
__device__ void TurnSection(const RopeParams& p, const RopeSection& section, double coordinate,
                            const RopeOperand& operand, const T* in, T* out, float2* table) {
  for (int64_t begin = 0; begin < section.pairs; begin += kPairs) {
    const int count = static_cast<int>(min(static_cast<int64_t>(kPairs), section.pairs - begin));
    __syncthreads();  // the table before has been used
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      const double exponent = -static_cast<double>(begin + i) / static_cast<double>(section.pairs);
      double sine;
      double cosine;
      sincos(coordinate * pow(section.theta, exponent), &sine, &cosine);
      table[i] = {static_cast<float>(cosine), static_cast<float>(sine)};
    }
    __syncthreads();
    for (int64_t job = threadIdx.x; job < operand.heads * count; job += kThreads) {
      const int64_t head = job / count;
      const int i = static_cast<int>(job - head * count);
      const int64_t first = RopeFirst(p, section, begin + i);
      const int64_t second = RopeSecond(p, section, begin + i);
      const T* from = in + head * operand.in_strides[2];
      T* to = out + head * operand.out_strides[2];
      const float a = ToFp32(from[first * operand.in_strides[3]]);
      const float b = ToFp32(from[second * operand.in_strides[3]]);
      const float2 turn = table[i];
      to[first * operand.out_strides[3]] = FromFp32<T>(a * turn.x - b * turn.y);
      to[second * operand.out_strides[3]] = FromFp32<T>(b * turn.x + a * turn.y);
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads) Rope(const __grid_constant__ RopeParams p) {
  __shared__ float2 table[kPairs];
  const int64_t q_rows = p.batch * p.operands[0].tokens;
  const int64_t rows = q_rows + p.batch * p.operands[1].tokens;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const RopeOperand& operand = p.operands[row < q_rows ? 0 : 1];
    const int64_t index = row < q_rows ? row : row - q_rows;
    const int64_t batch = index / operand.tokens;
    const int64_t token = index - batch * operand.tokens;
    const T* in = static_cast<const T*>(operand.in) + batch * operand.in_strides[0] +
                  token * operand.in_strides[1];
    T* out = static_cast<T*>(operand.out) + batch * operand.out_strides[0] +
             token * operand.out_strides[1];
    for (int s = 0; s < 3; ++s) {
      const auto coordinate = static_cast<double>(RopeCoordinate(p, operand, batch, token, s));
      TurnSection(p, p.sections[s], coordinate, operand, in, out, table);
    }
    const int64_t rest = p.head_width - p.rotated;
    for (int64_t job = threadIdx.x; job < operand.heads * rest; job += kThreads) {
      const int64_t head = job / rest;
      const int64_t channel = p.rotated + job - head * rest;
      out[head * operand.out_strides[2] + channel * operand.out_strides[3]] =
          in[head * operand.in_strides[2] + channel * operand.in_strides[3]];
    }
  }
}

}  // namespace

int32_t LaunchRopeGeneric(const RopeParams& params, void* stream) {
  const int64_t rows = params.batch * (params.operands[0].tokens + params.operands[1].tokens);
  if (rows == 0 || params.head_width == 0) return cudaSuccess;
  const auto grid = static_cast<unsigned>(std::min<int64_t>(rows, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.dtype, [&]<typename T>(T) {
    Rope<T><<<grid, kThreads, 0, on>>>(params);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
