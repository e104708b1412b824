// SPDX-License-Identifier: Apache-2.0
// rope_1d and rope_3d on any device.
//
// q, k [B,S,N,Dh] of any strides; fp64 angles, rounded to fp32; products in fp32. A block is one
// token of q or k. It norms the heads if requested, computes the angles of kPairs pairs at a time
// in shared memory, and rotates them in all heads. One thread handles a pair, so writing in place
// is safe.
// Bound by memory: every element is read and written once.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/rope/rope_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kPairs = 128;
constexpr int kHeads = 128;  // at a time

// Some heads of a token of q or k.
template <typename T>
struct Heads {
  const RopeOperand& operand;
  const T* in;
  T* out;
  int count;
  const float* scales;  // their norms' scales; null: not normed

  // A channel after the norm, if any.
  __device__ float At(int head, int64_t channel) const {
    const float x = ToFp32(in[head * operand.in_strides[2] + channel * operand.in_strides[3]]);
    return scales == nullptr ? x : x * scales[head] * Weight(channel);
  }
  __device__ void Set(int head, int64_t channel, float value) const {
    out[head * operand.out_strides[2] + channel * operand.out_strides[3]] = FromFp32<T>(value);
  }

 private:
  __device__ float Weight(int64_t channel) const {
    const RowOperand& weight = operand.weight;
    if (weight.data == nullptr) return 1;
    const int64_t i = channel * weight.inner;
    if (weight.dtype == Dtype::kF32) return static_cast<const float*>(weight.data)[i];
    return ToFp32(static_cast<const T*>(weight.data)[i]);
  }
};

// A warp a head; the sum's order depends on the width only.
template <typename T>
__device__ void ScaleHeads(const RopeParams& p, const Heads<T>& heads, float* scales) {
  const int64_t stride = heads.operand.in_strides[3];
  for (int head = static_cast<int>(threadIdx.x) / 32; head < heads.count; head += kThreads / 32) {
    const T* in = heads.in + head * heads.operand.in_strides[2];
    float squares = 0;
    for (int64_t i = threadIdx.x % 32; i < p.head_width; i += 32) {
      const float x = ToFp32(in[i * stride]);
      squares += x * x;
    }
    const float mean = GroupSum<32>(squares, nullptr) / static_cast<float>(p.head_width);
    if (threadIdx.x % 32 == 0) scales[head] = rsqrtf(mean + p.eps);
  }
}

template <typename T>
__device__ void TurnSection(const RopeParams& p, const RopeSection& section, double coordinate,
                            const Heads<T>& heads, float2* table) {
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
    for (int job = static_cast<int>(threadIdx.x); job < heads.count * count; job += kThreads) {
      const int head = job / count;
      const int i = job - head * count;
      const int64_t first = RopeFirst(p, section, begin + i);
      const int64_t second = RopeSecond(p, section, begin + i);
      const float a = heads.At(head, first);
      const float b = heads.At(head, second);
      const float2 turn = table[i];
      heads.Set(head, first, a * turn.x - b * turn.y);
      heads.Set(head, second, b * turn.x + a * turn.y);
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads) Rope(const __grid_constant__ RopeParams p) {
  __shared__ float2 table[kPairs];
  __shared__ float scales[kHeads];
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
    for (int64_t first = 0; first < operand.heads; first += kHeads) {
      const Heads<T> heads{operand, in + first * operand.in_strides[2],
                           out + first * operand.out_strides[2],
                           static_cast<int>(min(int64_t{kHeads}, operand.heads - first)),
                           p.normed ? scales : nullptr};
      if (p.normed) {
        __syncthreads();  // the scales before have been used
        ScaleHeads(p, heads, scales);
        __syncthreads();
      }
      for (int s = 0; s < 3; ++s) {
        const auto coordinate = static_cast<double>(RopeCoordinate(p, operand, batch, token, s));
        TurnSection(p, p.sections[s], coordinate, heads, table);
      }
      const int64_t rest = p.head_width - p.rotated;
      for (int64_t job = threadIdx.x; job < heads.count * rest; job += kThreads) {
        const int head = static_cast<int>(job / rest);
        const int64_t channel = p.rotated + job - head * rest;
        heads.Set(head, channel, heads.At(head, channel));
      }
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
