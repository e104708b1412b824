// SPDX-License-Identifier: Apache-2.0
// Large copies from memory to shared memory by the copy engine, and the barriers that signal them.
// For .cu files of sm_90 and later.
//
// A barrier has phases: it enters the next one after as many arrivals as it was made for and all
// announced bytes. A waiting thread names the parity of the phase that should be over: 0, 1, 0 and
// so on; the phase before the first counts as over.
#pragma once

#include <cstdint>

namespace reel::kernels {

__device__ inline void MakeBarrier(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(barrier), "r"(arrivals) : "memory");
}
// Call after making barriers and before other threads and the copy engine see them; then a barrier
// of the block.
__device__ inline void PublishBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
__device__ inline void Arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(barrier) : "memory");
}
__device__ inline void Await(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain%=:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
      "@!p bra again%=;\n}"
      :
      : "r"(barrier), "r"(parity)
      : "memory");
}

// Arrives, and announces so many bytes.
__device__ inline void ArriveAndAnnounce(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
               :
               : "r"(barrier), "r"(bytes)
               : "memory");
}

// A position in a ring of stages, and the parity of its barriers.
template <int kStages>
struct RingPlace {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void Advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

// Copies; bytes must be announced. Both addresses and the count are multiples of 16.
__device__ inline void BulkCopy(uint32_t to, const void* from, int bytes, uint32_t barrier) {
  ArriveAndAnnounce(barrier, bytes);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(to), "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

}  // namespace reel::kernels
