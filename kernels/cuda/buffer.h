// SPDX-License-Identifier: Apache-2.0
// Owners of device memory and of pinned host memory. Compiled only with REEL_CUDA. Move-only.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/stream.h"

namespace reel::kernels {

// Uses plain cudaMalloc, since a pool would hide overruns. Must outlive the work that uses it.
class DeviceBuffer {
 public:
  // RESOURCE_EXHAUSTED if the device lacks the memory; zero bytes are legal and have no data.
  static absl::StatusOr<DeviceBuffer> Create(int device, size_t bytes);

  void* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* data) const noexcept;
  };
  DeviceBuffer(void* data, size_t size) : data_(data), size_(size) {}

  std::unique_ptr<void, Free> data_;
  size_t size_;
};

// Host memory that a device can copy from and to while the CPU continues.
class PinnedBuffer {
 public:
  static absl::StatusOr<PinnedBuffer> Create(size_t bytes);

  void* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* data) const noexcept;
  };
  PinnedBuffer(void* data, size_t size) : data_(data), size_(size) {}

  std::unique_ptr<void, Free> data_;
  size_t size_;
};

// Copies `bytes`, in the stream's order; either side may be on the host.
absl::Status CopyAsync(void* to, const void* from, size_t bytes, CudaStreamView stream);

}  // namespace reel::kernels
