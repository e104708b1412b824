// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/host_copies.h"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace reel::kernels {
namespace {

// Size of the buffers, which each copy uses several times: page-locking takes longer than copying,
// and the device may be nearly full.
constexpr int64_t kPieceBytes = int64_t{64} << 20;

// The buffers, the stream and the two events of a measurement.
class Lane {
 public:
  Lane() = default;
  ~Lane() {
    if (end_ != nullptr) (void)cudaEventDestroy(end_);
    if (start_ != nullptr) (void)cudaEventDestroy(start_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    if (there_ != nullptr) (void)cudaFree(there_);
    if (host_ != nullptr) (void)cudaFreeHost(host_);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  cudaError_t Open(int device, int64_t bytes) {
    piece_ = std::min(bytes, kPieceBytes);
    const auto size = static_cast<size_t>(piece_);
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaMallocHost(&host_, size);
    if (error == cudaSuccess) error = cudaMalloc(&there_, size);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreate(&start_);
    if (error == cudaSuccess) error = cudaEventCreate(&end_);
    return error;
  }

  cudaError_t Time(int64_t bytes, int64_t& nanoseconds) {
    cudaError_t error = cudaEventRecord(start_, stream_);
    for (int64_t left = bytes; left > 0 && error == cudaSuccess; left -= piece_) {
      const auto size = static_cast<size_t>(std::min(left, piece_));
      error = cudaMemcpyAsync(there_, host_, size, cudaMemcpyHostToDevice, stream_);
    }
    if (error == cudaSuccess) error = cudaEventRecord(end_, stream_);
    if (error == cudaSuccess) error = cudaEventSynchronize(end_);
    float milliseconds = 0;
    if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, start_, end_);
    nanoseconds = static_cast<int64_t>(1e6 * static_cast<double>(milliseconds));
    return error;
  }

 private:
  int64_t piece_ = 0;
  void* host_ = nullptr;
  void* there_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

}  // namespace

int32_t TimeCopies(int32_t device, int64_t bytes, int32_t count, int64_t* nanoseconds) {
  Lane lane;
  cudaError_t error = lane.Open(device, bytes);
  for (int32_t i = 0; i < count && error == cudaSuccess; ++i) {
    error = lane.Time(bytes, nanoseconds[i]);
  }
  if (error != cudaSuccess) (void)cudaGetLastError();  // else the next call reports it
  return error;
}

}  // namespace reel::kernels
