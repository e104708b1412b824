// SPDX-License-Identifier: Apache-2.0
// Copies from host memory into buffers of a device, beside what the device computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/bridge/aten.h"

namespace reel::model {

// Each buffer, a slot, is filled, awaited, used and released, in this order. "The device's stream"
// is libtorch's current one. Its calls may be recorded (device_graph.h) as long as every copy that
// is recorded is awaited in the same recording. Throws what libtorch throws. Used by one thread.
class CopyLane {
 public:
  virtual ~CopyLane() = default;
  // Host memory that copies of the device read without a stop, as uint8 [bytes]. A throw is
  // kResourceExhausted to TorchGuard.
  virtual at::Tensor HostBytes(int64_t bytes) = 0;
  // Fills the slot: behind its release, or behind all that the device's stream has been asked for
  // where none is known. Equal sizes.
  virtual void Copy(size_t slot, const at::Tensor& from, const at::Tensor& to) = 0;
  // What the device's stream is asked for from now on comes behind the slot's latest copy.
  virtual void Await(size_t slot) = 0;
  virtual void Release(size_t slot) = 0;
  // What the device's stream is asked for from now on comes behind all copies; forgets releases.
  virtual void AwaitAll() = 0;
  // Forgets releases, after a recording, in which they were.
  virtual void ForgetReleases() = 0;
};

// Plain copies on a CPU. On a GPU a stream of its own with page-locked host memory; null where
// libreel_torch_cuda.so does not lie beside the library of kernels.
std::unique_ptr<CopyLane> MakeCopyLane(at::Device device, size_t slots);

}  // namespace reel::model
