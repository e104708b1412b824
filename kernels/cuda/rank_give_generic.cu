// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "kernels/cuda/rank_give_launch.h"

namespace reel::kernels {
namespace {

constexpr int kWarp = 32, kThreads = 512, kWarps = kThreads / kWarp;
// Four times as many give no more throughput over the links.
constexpr int kMostBlocks = 128;
constexpr int kAtOnce = 4;  // words of a lane in flight
constexpr unsigned kLooksBetween = 256;

__device__ void Tell(uint32_t* at, uint32_t count) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(count) : "memory");
}

__device__ uint32_t Hear(const uint32_t* at) {
  uint32_t count;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(count) : "l"(at) : "memory");
  return count;
}

// Counters wrap around; a rank behind lags by less than half of their range.
__device__ bool IsBehind(uint32_t count, uint32_t wanted) {
  return static_cast<int32_t>(count - wanted) < 0;
}

// Copies the keys or the values of one token, with one warp.
__device__ void GiveToken(const RankGive& give, int64_t item, unsigned lane) {
  const int which = static_cast<int>(item % 2);
  const int64_t token = item / 2 % give.tokens, row = item / 2 / give.tokens;
  const auto* const from =
      reinterpret_cast<const uint4*>(static_cast<const char*>(give.from[which]) +
                                     row * give.from_row[which] + token * give.from_token[which]);
  const int64_t place = row * give.to_row + (2 * token + which) * give.token_bytes;
  const auto words = static_cast<unsigned>(give.token_bytes / sizeof(uint4));
  for (unsigned first = lane; first < words; first += kWarp * kAtOnce) {
    uint4 read[kAtOnce];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      if (first + i * kWarp < words) read[i] = from[first + i * kWarp];
    }
    for (int rank = 0; rank < give.ranks; ++rank) {
      auto* const to = reinterpret_cast<uint4*>(static_cast<char*>(give.to[rank]) + place);
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        if (first + i * kWarp < words) to[first + i * kWarp] = read[i];
      }
    }
  }
}

__device__ void TellAndHear(const RankGive& give) {
  uint32_t counts[kMostGivers];
  for (int rank = 0; rank < give.ranks; ++rank) {
    if (give.told[rank] == nullptr) continue;
    counts[rank] = *give.given[rank] + 1;
    *give.given[rank] = counts[rank];
    Tell(give.told[rank], counts[rank]);
  }
  const auto* const given_up = static_cast<const volatile uint32_t*>(give.given_up);
  for (int rank = 0; rank < give.ranks; ++rank) {
    if (give.told[rank] == nullptr) continue;
    for (unsigned looks = 1; IsBehind(Hear(give.heard[rank]), counts[rank]); ++looks) {
      if (looks % kLooksBetween == 0 && *given_up != 0) return;
    }
  }
}

__global__ void __launch_bounds__(kThreads) Give(const __grid_constant__ RankGive give) {
  const unsigned lane = threadIdx.x % kWarp;
  const int64_t items = 2 * give.rows * give.tokens;
  for (int64_t item = blockIdx.x * kWarps + threadIdx.x / kWarp; item < items;
       item += static_cast<int64_t>(gridDim.x) * kWarps) {
    GiveToken(give, item, lane);
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(give.done, 1) + 1 != gridDim.x) return;
  __threadfence_system();
  *give.done = 0;
  TellAndHear(give);
  __threadfence_system();
}

}  // namespace

int32_t GiveToRanks(const RankGive& give, void* stream) {
  const int64_t items = 2 * give.rows * give.tokens;
  const int64_t wanted = (items + kWarps - 1) / kWarps;
  const auto blocks =
      static_cast<unsigned>(wanted < kMostBlocks ? (wanted > 0 ? wanted : 1) : kMostBlocks);
  Give<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(give);
  return cudaGetLastError();
}

}  // namespace reel::kernels
