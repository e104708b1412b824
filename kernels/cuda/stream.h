// SPDX-License-Identifier: Apache-2.0
// Owners of CUDA streams and events. Compiled only with REEL_CUDA. Move-only; not thread-safe.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

// A borrowed stream of a device.
class CudaStreamView {
 public:
  CudaStreamView(int device, cudaStream_t handle) : device_(device), handle_(handle) {}

  int device() const { return device_; }
  cudaStream_t handle() const { return handle_; }
  // The stream as operators take it.
  DeviceStream stream() const { return {.device = device_, .handle = handle_}; }
  // Waits for all earlier work. ABORTED if the context is lost.
  absl::Status Synchronize() const;

 private:
  int device_;
  cudaStream_t handle_;
};

class CudaStream {
 public:
  // Neither waits for the default stream nor makes it wait.
  static absl::StatusOr<CudaStream> Create(int device);

  CudaStreamView view() const { return {device_, handle_.get()}; }
  absl::Status Synchronize() const { return view().Synchronize(); }

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const noexcept;
  };
  using Handle = std::unique_ptr<CUstream_st, Destroy>;

  CudaStream(int device, cudaStream_t handle) : device_(device), handle_(handle) {}

  int device_;
  Handle handle_;
};

class CudaEvent {
 public:
  // `timed` events can measure the time between two of them.
  static absl::StatusOr<CudaEvent> Create(bool timed);

  absl::Status Record(CudaStreamView stream);
  absl::Status Synchronize() const;
  // Later work on `stream` waits for this event.
  absl::Status MakeWait(CudaStreamView stream) const;
  // Both events must be recorded, timed and complete.
  static absl::StatusOr<absl::Duration> Between(const CudaEvent& start, const CudaEvent& end);

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const noexcept;
  };
  using Handle = std::unique_ptr<CUevent_st, Destroy>;

  explicit CudaEvent(cudaEvent_t handle) : handle_(handle) {}

  Handle handle_;
};

}  // namespace reel::kernels
