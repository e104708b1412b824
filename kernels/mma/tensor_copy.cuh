// SPDX-License-Identifier: Apache-2.0
// Copies rectangles of matrices between memory and shared memory by the copy engine, which gets a
// map of the matrix from the host. For .cu files of sm_90 and later.
//
// In shared memory a rectangle has rows of 128 bytes. Their 16-byte pieces are permuted by the last
// three bits of the row (kSwizzledRow), so that neither columns nor rows share a bank.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace reel::kernels {

inline constexpr int kSwizzledRow = 128;  // bytes

// The position of 16-byte piece `piece` of a row, from the rectangle's beginning.
__device__ inline uint32_t SwizzledPiece(int row, int piece) {
  return static_cast<uint32_t>(row * kSwizzledRow + ((piece ^ (row & 7)) << 4));
}

// Maps a matrix in memory, with rows `stride` bytes apart, data and stride multiples of 16, and
// rectangles of `box_rows` rows and 128 bytes. Elements outside are read as zero and not written.
struct MatrixInMemory {
  const void* data;
  int64_t rows, columns, stride;
};
inline cudaError_t MakeTensorMap(const MatrixInMemory& of, CUtensorMapDataType type,
                                 int element_bytes, int box_rows, CUtensorMap& map) {
  using Encode =
      CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                   const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                   CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  // The driver's function, which no linked library has.
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                                             12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(of.columns),
                              static_cast<cuuint64_t>(of.rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(of.stride)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(kSwizzledRow / element_bytes),
                            static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const CUresult made = reinterpret_cast<Encode>(entry)(
      &map, type, 2, const_cast<void*>(of.data), sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Loads the rectangle at a column and a row; the caller announces its bytes (bulk_copy.cuh).
__device__ inline void CopyRectangle(uint32_t to, const CUtensorMap& from, int column, int row,
                                     uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];"
      :
      : "r"(to), "l"(&from), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// Stores it, after PublishToCopies by all threads that wrote the rectangle, and a barrier.
__device__ inline void StoreRectangle(uint32_t from, const CUtensorMap& to, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
               :
               : "l"(&to), "r"(column), "r"(row), "r"(from)
               : "memory");
}
__device__ inline void PublishToCopies() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
// Called by the storing thread: closes a group, which may be empty.
__device__ inline void CommitStores() {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
// Waits until all of its groups but the latest kGroups have been read from shared memory.
template <int kGroups>
__device__ inline void AwaitStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(kGroups) : "memory");
}

// Stores four matrices of 8 rows of 16 bytes from registers, in LoadMatrices's layout.
__device__ inline void StoreMatrices(const uint32_t (&words)[4], uint32_t row) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :
               : "r"(row), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

}  // namespace reel::kernels
