// SPDX-License-Identifier: Apache-2.0
// attention, cross_attention and attention_rest for every call: any strides, alignment, head width,
// number of keys.
//
// A warp computes one query: its lanes share the channels, keys come a few at a time, and a running
// maximum is kept. It computes 128 channels of the output at once; wider heads compute the scores
// again for the next 128. fp32 throughout, one rounding. Keys and values come from the caches for
// every query.
#include <algorithm>

#include "kernels/attention/attention_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kStep = 4;  // keys
constexpr int kPerLane = 4;
constexpr int kSpan = 32 * kPerLane;  // channels

struct Query {
  int64_t batch, row, head;
};

template <typename T>
__device__ T* PointAt(const AttentionOperand& operand, const Query& at, int64_t row) {
  return static_cast<T*>(operand.data) + at.batch * operand.strides[0] + row * operand.strides[1] +
         at.head * operand.strides[2];
}

__device__ float MinusInfinity() { return __uint_as_float(0xff800000u); }

// The data of one query that all keys share.
template <typename T>
struct Scorer {
  const AttentionParams& p;
  Query at;
  int64_t keys;
  float factor;
  const T* q;
  const T* k;
  int lane;

  __device__ Scorer(const AttentionParams& params, const Query& query)
      : p(params),
        at(query),
        keys(params.keys),
        factor(params.scale),
        q(PointAt<const T>(params.q, query, query.row)),
        k(PointAt<const T>(params.k, query, 0)),
        lane(static_cast<int>(threadIdx.x) % 32) {
    if (p.key_lengths != nullptr) {
      const int64_t length = p.key_lengths[at.batch * p.key_lengths_stride];
      keys = min(max(length, int64_t{0}), p.keys);
    }
    if (p.q_scale.data != nullptr) factor *= *PointAt<const float>(p.q_scale, at, at.row);
  }

  __device__ float Bias(int64_t key) const {
    if (p.bias.data == nullptr) return 0;
    const int64_t i = key * p.bias.strides[3];
    if (p.bias.dtype == Dtype::kF32) return PointAt<const float>(p.bias, at, at.row)[i];
    return ToFp32(PointAt<const T>(p.bias, at, at.row)[i]);
  }

  // The scores of kStep keys from `first` on, on every lane; minus infinity past the last key.
  __device__ void Scores(int64_t first, float (&scores)[kStep]) const {
#pragma unroll
    for (int s = 0; s < kStep; ++s) scores[s] = 0;
    for (int64_t i = lane; i < p.width; i += 32) {
      const float value = ToFp32(q[i * p.q.strides[3]]);
#pragma unroll
      for (int s = 0; s < kStep; ++s) {
        if (first + s >= keys) continue;
        const float other = ToFp32(k[(first + s) * p.k.strides[1] + i * p.k.strides[3]]);
        scores[s] = fmaf(value, other, scores[s]);
      }
    }
    GroupSums<32>(scores, nullptr);
#pragma unroll
    for (int s = 0; s < kStep; ++s) {
      const bool there = first + s < keys;
      scores[s] = there ? fmaf(scores[s], factor, Bias(first + s)) : MinusInfinity();
    }
  }
};

// Adds the earlier result to a lane's channels; true if there was one.
template <typename T>
__device__ bool ReadBefore(const Scorer<T>& scorer, int64_t channel, float& log_sum,
                           float (&out)[kPerLane]) {
  const AttentionParams& p = scorer.p;
  if (p.before.data == nullptr) return false;
  log_sum = *PointAt<const float>(p.log_sums, scorer.at, scorer.at.row);
  if (log_sum == MinusInfinity()) return false;
  const T* from = PointAt<const T>(p.before, scorer.at, scorer.at.row);
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int64_t at = channel + scorer.lane + 32 * i;
    if (at < p.width) out[i] = ToFp32(from[at * p.before.strides[3]]);
  }
  return true;
}

// Computes kSpan channels of one query's output from `channel` on.
template <typename T>
__device__ void AttendChannels(const Scorer<T>& scorer, int64_t channel) {
  const AttentionParams& p = scorer.p;
  const T* v = PointAt<const T>(p.v, scorer.at, 0);
  float largest = MinusInfinity();
  float out[kPerLane] = {};
  float sum = ReadBefore(scorer, channel, largest, out) ? 1.0f : 0.0f;
  for (int64_t first = 0; first < scorer.keys; first += kStep) {
    float scores[kStep];
    scorer.Scores(first, scores);
    float now = largest;  // fmaxf ignores a NaN; the exponential brings it back
#pragma unroll
    for (int s = 0; s < kStep; ++s) now = fmaxf(now, scores[s]);
    const float from = now == MinusInfinity() ? 0 : now;
    const float kept = largest == MinusInfinity() ? 0 : expf(largest - from);
    largest = now;
    sum *= kept;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) out[i] *= kept;
#pragma unroll
    for (int s = 0; s < kStep; ++s) {
      if (first + s >= scorer.keys) continue;
      const float weight = expf(scores[s] - from);
      sum += weight;
      const T* row = v + (first + s) * p.v.strides[1];
#pragma unroll
      for (int i = 0; i < kPerLane; ++i) {
        const int64_t at = channel + scorer.lane + 32 * i;
        if (at < p.width) out[i] = fmaf(weight, ToFp32(row[at * p.v.strides[3]]), out[i]);
      }
    }
  }
  T* to = PointAt<T>(p.out, scorer.at, scorer.at.row);
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int64_t at = channel + scorer.lane + 32 * i;
    if (at < p.width) to[at * p.out.strides[3]] = FromFp32<T>(sum == 0 ? out[i] : out[i] / sum);
  }
}

// Neighbouring warps compute neighbouring queries of a head.
template <typename T>
__global__ void __launch_bounds__(kThreads) AttendAny(const __grid_constant__ AttentionParams p) {
  const int64_t all = p.batch * p.heads * p.queries;
  const int64_t step = int64_t{gridDim.x} * kWarps;
  for (int64_t i = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; i < all; i += step) {
    const int64_t pair = Quotient(i, p.queries);
    const int64_t batch = Quotient(pair, p.heads);
    const Scorer<T> scorer(p, {batch, i - pair * p.queries, pair - batch * p.heads});
    for (int64_t channel = 0; channel < p.width; channel += kSpan) AttendChannels(scorer, channel);
  }
}

}  // namespace

int32_t LaunchAttentionGeneric(const AttentionParams& params, void* stream) {
  const int64_t all = params.batch * params.heads * params.queries;
  if (all == 0 || params.width == 0) return cudaSuccess;
  const auto grid = static_cast<unsigned>(std::min<int64_t>((all - 1) / kWarps + 1, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.q.dtype, [&]<typename T>(T) {
    AttendAny<T><<<grid, kThreads, 0, on>>>(params);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
