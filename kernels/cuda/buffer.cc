// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/buffer.h"

#include "kernels/base/status_macros.h"
#include "kernels/cuda/error.h"

namespace reel::kernels {

absl::StatusOr<DeviceBuffer> DeviceBuffer::Create(int device, size_t bytes) {
  if (bytes == 0) return DeviceBuffer(nullptr, 0);
  void* data = nullptr;
  REEL_RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device), "cudaSetDevice"));
  REEL_RETURN_IF_ERROR(CudaStatus(cudaMalloc(&data, bytes), "cudaMalloc"));
  return DeviceBuffer(data, bytes);
}

void DeviceBuffer::Free::operator()(void* data) const noexcept {
  ReportCudaError(cudaFree(data), "cudaFree");
}

absl::StatusOr<PinnedBuffer> PinnedBuffer::Create(size_t bytes) {
  if (bytes == 0) return PinnedBuffer(nullptr, 0);
  void* data = nullptr;
  REEL_RETURN_IF_ERROR(CudaStatus(cudaMallocHost(&data, bytes), "cudaMallocHost"));
  return PinnedBuffer(data, bytes);
}

void PinnedBuffer::Free::operator()(void* data) const noexcept {
  ReportCudaError(cudaFreeHost(data), "cudaFreeHost");
}

absl::Status CopyAsync(void* to, const void* from, size_t bytes, CudaStreamView stream) {
  if (bytes == 0) return absl::OkStatus();
  return CudaStatus(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.handle()),
                    "cudaMemcpyAsync");
}

}  // namespace reel::kernels
