// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory without registers, and from there into a warp's registers in
// the layout of tensor_core.cuh. For .cu files of sm_80 and later.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace reel::kernels {

__device__ inline uint32_t SharedAddress(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

// Starts a copy of 16 bytes; writes zeros without reading if not `there`. A thread sees its own
// copies after waiting for them, others' after a barrier behind that.
__device__ inline void CopyAsync16(uint32_t to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
// Closes a group of copies, which may be empty.
__device__ inline void CommitCopies() { asm volatile("cp.async.commit_group;" : : : "memory"); }
// Waits for all of this thread's groups but the latest kGroups.
template <int kGroups>
__device__ inline void AwaitCopies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(kGroups) : "memory");
}
// Waits for all of this thread's copies, in groups or not.
__device__ inline void AwaitAllCopies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

// Loads four matrices of 8 rows of 16 bytes; lane i gives the address of row i % 8 of matrix i / 8.
// Word m then has row g of matrix m at columns 2 c and 2 c + 1.
__device__ inline void LoadMatrices(uint32_t (&words)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row)
               : "memory");
}
// The same transposed: rows 2 c and 2 c + 1 at column g.
__device__ inline void LoadTransposed(uint32_t (&words)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row)
               : "memory");
}

}  // namespace reel::kernels
