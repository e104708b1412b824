// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/stream.h"

#include "kernels/base/status_macros.h"
#include "kernels/cuda/error.h"

namespace reel::kernels {

absl::Status CudaStreamView::Synchronize() const {
  return CudaStatus(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

absl::StatusOr<CudaStream> CudaStream::Create(int device) {
  REEL_RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device), "cudaSetDevice"));
  cudaStream_t handle = nullptr;
  REEL_RETURN_IF_ERROR(CudaStatus(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking),
                                  "cudaStreamCreateWithFlags"));
  return CudaStream(device, handle);
}

void CudaStream::Destroy::operator()(cudaStream_t stream) const noexcept {
  ReportCudaError(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

absl::StatusOr<CudaEvent> CudaEvent::Create(bool timed) {
  cudaEvent_t handle = nullptr;
  REEL_RETURN_IF_ERROR(CudaStatus(
      cudaEventCreateWithFlags(&handle, timed ? cudaEventDefault : cudaEventDisableTiming),
      "cudaEventCreateWithFlags"));
  return CudaEvent(handle);
}

absl::Status CudaEvent::Record(CudaStreamView stream) {
  return CudaStatus(cudaEventRecord(handle_.get(), stream.handle()), "cudaEventRecord");
}

absl::Status CudaEvent::Synchronize() const {
  return CudaStatus(cudaEventSynchronize(handle_.get()), "cudaEventSynchronize");
}

absl::Status CudaEvent::MakeWait(CudaStreamView stream) const {
  return CudaStatus(cudaStreamWaitEvent(stream.handle(), handle_.get(), 0), "cudaStreamWaitEvent");
}

absl::StatusOr<absl::Duration> CudaEvent::Between(const CudaEvent& start, const CudaEvent& end) {
  float milliseconds = 0;
  REEL_RETURN_IF_ERROR(
      CudaStatus(cudaEventElapsedTime(&milliseconds, start.handle_.get(), end.handle_.get()),
                 "cudaEventElapsedTime"));
  return absl::Milliseconds(static_cast<double>(milliseconds));
}

void CudaEvent::Destroy::operator()(cudaEvent_t event) const noexcept {
  ReportCudaError(cudaEventDestroy(event), "cudaEventDestroy");
}

}  // namespace reel::kernels
