// SPDX-License-Identifier: Apache-2.0
// cross_attention: out = softmax(scale * q_scale * q k^T + bias) v over at most 128 keys.
// attention_rest: the same over the keys that another kernel has left, joined with its result.
//
// q, out [B, S, N, Dh], k, v [B, L, N, Dh] of fp16 or bf16, Dh 64 or 128, heads of 16-byte vectors
// (CrossAttentionVectorAccepts), any other strides. Products run on tensor cores with fp32 sums,
// the softmax in fp32 over all keys at once. Its weights are rounded to the type for the second
// product; the result is rounded once.
// A block holds the keys and values of a head that count in shared memory (few keys are padded to
// 32 or 64), and computes a range of queries. A warp handles 32 queries at a time and uses all keys
// and values that it reads for each; scores, weights and sums stay in registers. Queries and
// outputs are read and written in runs of 64 bytes, the next queries during the softmax. Bound by
// memory, 2 (2 S + 2 L) B N Dh bytes, with the tensor cores close behind.
#include <algorithm>

#include "kernels/attention/attention_heads.cuh"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/attention_warp.cuh"
#include "kernels/cuda/multiprocessors.cuh"

namespace reel::kernels {
namespace {

// What queries bring beside the keys: a bias for each score, or an earlier result.
enum class Beside { kNothing, kRowBias, kBefore };

// Tiles of 16 queries of a warp; two tiles halve its reads of keys and values.
constexpr int TilesFor(Beside beside) { return beside == Beside::kNothing ? 2 : 1; }
// Of 255, 168 or 128 registers a thread. An earlier result is read when it is needed, so it profits
// from many warps.
constexpr int BlocksPerSm(Beside beside, int width, int used) {
  if (beside == Beside::kBefore) return width == 64 && used <= 64 ? 4 : 2;
  return beside == Beside::kRowBias ? 3 : 2;
}

struct CrossCall {
  AttentionParams p;
  int64_t parts;            // blocks that share the queries of a head
  int64_t queries_of_part;  // whole runs of a warp's queries
};

// kUsed: there are no more keys. Keys that do not count have weight 0 and add nothing, so the bits
// do not depend on kUsed.
template <typename T, int kWidth, Beside kBeside, int kUsed>
__global__ void __launch_bounds__(kCrossThreads, BlocksPerSm(kBeside, kWidth, kUsed))
    CrossAttend(const __grid_constant__ CrossCall call) {
  extern __shared__ uint4 shared_vectors[];
  auto& shared = *reinterpret_cast<Shared<kWidth>*>(shared_vectors);
  const AttentionParams& p = call.p;
  const int64_t pair = Quotient(blockIdx.x, call.parts);
  const int64_t batch = Quotient(pair, p.heads), head = pair - batch * p.heads;
  auto keys = static_cast<unsigned>(p.keys);
  if (p.key_lengths != nullptr) {
    keys = min(static_cast<unsigned>(max(p.key_lengths[batch * p.key_lengths_stride], 0)), keys);
  }
  constexpr int kTiles = TilesFor(kBeside);
  constexpr bool kRowBias = kBeside == Beside::kRowBias, kBefore = kBeside == Beside::kBefore;
  constexpr int kQueries = 16 * kTiles;
  constexpr int kStep = kCrossWarps * kQueries;
  const int64_t begin = (blockIdx.x - pair * call.parts) * call.queries_of_part;
  const int64_t end = min(begin + call.queries_of_part, p.queries);
  int64_t first = begin + threadIdx.x / 32 * kQueries;
  const T* q = HeadOf<const T>(p.q, batch, head) + first * p.q.strides[1];
  OutputRows<T> rows = {.out = HeadOf<T>(p.out, batch, head) + first * p.out.strides[1],
                        .stride = p.out.strides[1],
                        .before = nullptr,
                        .before_stride = p.before.strides[1],
                        .left = 0};
  const float* log_sums = nullptr;
  if constexpr (kBefore) {
    rows.before = HeadOf<const T>(p.before, batch, head) + first * p.before.strides[1];
    log_sums = HeadOf<const float>(p.log_sums, batch, head) + first * p.log_sums.strides[1];
  }
  const auto left = [&](int64_t from) {
    return static_cast<int>(max(min(end - from, int64_t{kQueries}), int64_t{0}));
  };
  const ScoreTerms<T> terms{
      p,
      {p.bias, batch * p.bias.strides[0] + head * p.bias.strides[2]},
      shared.bias,
      p.q_scale.data == nullptr ? nullptr : HeadOf<const float>(p.q_scale, batch, 0),
      keys};
  StageKeys<T, kWidth, kUsed>(HeadOf<const T>(p.k, batch, head), p.k.strides[1], keys, shared.keys);
  Queries<kTiles, kWidth> queries;
  LoadQueries(q, p.q.strides[1], left(first), queries);
  StageValues<T, kWidth, kUsed>(HeadOf<const T>(p.v, batch, head), p.v.strides[1], keys,
                                shared.values);
  StageBias<T, kRowBias>(terms.bias, keys, shared.bias);
  AwaitAllCopies();
  __syncthreads();
  for (; first < end; first += kStep) {
    Scores<kTiles, kUsed> scores;
    Multiply<T, kTiles, kWidth, kUsed>(queries, shared.keys, scores);
    float factors[2 * kTiles];
    RowFactors<T, kTiles>(terms, first, left(first), factors);
    if constexpr (kRowBias) {
      AddRowBias<T, kTiles, kUsed>(terms, first, left(first), factors, scores);
    } else {
      AddHeadBias<T, kTiles, kUsed>(terms, factors, scores);
    }
    LeaveOut<kTiles, kUsed>(keys, scores);
    Weights<kTiles, kUsed> weights;
    Sums<kTiles> sums;
    rows.left = left(first);
    std::conditional_t<kBefore, Before<kTiles>, NothingBefore> before;
    if constexpr (kBefore) LoadBefore(p.log_sums, log_sums, rows.left, before);
    Softmax<T, kTiles, kUsed>(scores, weights, before, sums);
    q += kStep * p.q.strides[1];
    LoadQueries(q, p.q.strides[1], left(first + kStep), queries);
#pragma unroll 1
    for (int part = 0; part < kWidth / 64; ++part) {
      MultiplyAndStore<T, kWidth, kTiles, kUsed>(weights, before, sums, shared.values, part, rows);
    }
    rows.out += kStep * p.out.strides[1];
    if constexpr (kBefore) {
      rows.before += kStep * p.before.strides[1];
      log_sums += kStep * p.log_sums.strides[1];
    }
  }
}

// Number of blocks for a head of `runs` runs of queries, one run a warp at a time. As many as fill
// the device once, or more if that leaves a tenth of it idle.
int64_t PartsFor(int64_t heads, int64_t runs, int64_t places) {
  int64_t parts = 1;
  for (int64_t times = 1; times <= 4; ++times) {
    parts = std::max<int64_t>(times * places / heads, 1);
    if (10 * parts * heads >= 9 * times * places) break;
  }
  return std::min(parts, (runs - 1) / kCrossWarps + 1);
}

template <typename T, int kWidth, Beside kBeside, int kUsed = kKeys>
int32_t LaunchCross(const AttentionParams& p, int64_t multiprocessors, cudaStream_t stream) {
  constexpr int kTiles = TilesFor(kBeside);
  constexpr int64_t kQueries = 16 * kTiles;
  constexpr int kBytes = sizeof(Shared<kWidth>);
  constexpr int kAlwaysThere = 48 * 1024;
  const int64_t heads = p.batch * p.heads;
  const int64_t runs = (p.queries - 1) / kQueries + 1;
  const int64_t wanted =
      PartsFor(heads, runs, multiprocessors * BlocksPerSm(kBeside, kWidth, kUsed));
  const int64_t runs_of_part = (runs - 1) / wanted + 1;
  const int64_t parts = (runs - 1) / runs_of_part + 1;
  // A longer grid would write 256 GB at least.
  if (heads * parts > 0x7fffffff) return cudaErrorInvalidConfiguration;
  const auto kernel = CrossAttend<T, kWidth, kBeside, kUsed>;
  if constexpr (kBytes > kAlwaysThere) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    if (error != cudaSuccess) return error;
  }
  const auto blocks = static_cast<unsigned>(heads * parts);
  kernel<<<blocks, kCrossThreads, kBytes, stream>>>({p, parts, runs_of_part * kQueries});
  return cudaGetLastError();
}

template <typename T, int kWidth, Beside kBeside>
int32_t LaunchFew(const AttentionParams& p, int64_t multiprocessors, cudaStream_t stream) {
  if (p.keys <= 32) return LaunchCross<T, kWidth, kBeside, 32>(p, multiprocessors, stream);
  if (p.keys <= 64) return LaunchCross<T, kWidth, kBeside, 64>(p, multiprocessors, stream);
  return LaunchCross<T, kWidth, kBeside>(p, multiprocessors, stream);
}

template <typename T, int kWidth>
int32_t LaunchWide(const AttentionParams& p, int64_t multiprocessors, cudaStream_t stream) {
  const bool row_bias = p.bias.data != nullptr && p.bias.strides[1] != 0;
  if (row_bias) return LaunchCross<T, kWidth, Beside::kRowBias>(p, multiprocessors, stream);
  if (p.before.data != nullptr) {
    return LaunchFew<T, kWidth, Beside::kBefore>(p, multiprocessors, stream);
  }
  return LaunchFew<T, kWidth, Beside::kNothing>(p, multiprocessors, stream);
}

template <typename T>
int32_t LaunchTyped(const AttentionParams& p, int64_t multiprocessors, cudaStream_t stream) {
  return p.width == 64 ? LaunchWide<T, 64>(p, multiprocessors, stream)
                       : LaunchWide<T, 128>(p, multiprocessors, stream);
}

int32_t LaunchAny(const AttentionParams& params, void* stream) {
  if (params.batch * params.heads == 0 || params.queries == 0) return cudaSuccess;
  int multiprocessors = 0;
  const cudaError_t error = CountMultiprocessors(multiprocessors);
  if (error != cudaSuccess) return error;
  const auto on = static_cast<cudaStream_t>(stream);
  if (params.q.dtype == Dtype::kF16) return LaunchTyped<__half>(params, multiprocessors, on);
  return LaunchTyped<__nv_bfloat16>(params, multiprocessors, on);
}

}  // namespace

int32_t LaunchCrossAttentionSm80(const AttentionParams& params, void* stream) {
  return LaunchAny(params, stream);
}
int32_t LaunchAttentionRestSm80(const AttentionParams& params, void* stream) {
  return LaunchAny(params, stream);
}

}  // namespace reel::kernels
