// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/copy_lane.h"

#include <ATen/cuda/Exceptions.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <vector>

namespace reel::model {
namespace {

// An event that orders two streams; without a time.
class Event {
 public:
  Event() { AT_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void Record(cudaStream_t stream) { AT_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  void Block(cudaStream_t stream) { AT_CUDA_CHECK(cudaStreamWaitEvent(stream, event_)); }

 private:
  cudaEvent_t event_ = nullptr;
};

// A stream of its own: one of libtorch's pool may be recorded for others.
class Lane {
 public:
  Lane() {
    int least = 0, greatest = 0;
    AT_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    AT_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  }
  // Copies read the host's memory, which may be freed next.
  ~Lane() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class CudaCopyLane final : public CopyLane {
 public:
  CudaCopyLane(int device, size_t slots)
      : device_(static_cast<c10::DeviceIndex>(device)), slots_(slots) {}

  // libtorch's own allocator rounds up to a power of two.
  at::Tensor HostBytes(int64_t bytes) override {
    const c10::cuda::CUDAGuard guard(device_);
    void* data = nullptr;
    const cudaError_t error =
        cudaHostAlloc(&data, static_cast<size_t>(bytes), cudaHostAllocDefault);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // else the next check reports it
      TORCH_CHECK_WITH(OutOfMemoryError, false, "the host has no ", bytes,
                       " bytes of memory to lock for weights");
    }
    AT_CUDA_CHECK(error);
    return at::from_blob(
        data, {bytes}, [](void* freed) { cudaFreeHost(freed); },
        at::TensorOptions(at::kByte).device(at::kCPU));
  }

  void Copy(size_t slot, const at::Tensor& from, const at::Tensor& to) override {
    const c10::cuda::CUDAGuard guard(device_);
    Slot& own = slots_[slot];
    if (!own.is_released) own.released.Record(Computing());
    own.is_released = false;
    own.released.Block(lane_.stream());
    AT_CUDA_CHECK(cudaMemcpyAsync(to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes(),
                                  cudaMemcpyHostToDevice, lane_.stream()));
    own.copied.Record(lane_.stream());
  }

  void Await(size_t slot) override {
    const c10::cuda::CUDAGuard guard(device_);
    slots_[slot].copied.Block(Computing());
  }

  void Release(size_t slot) override {
    const c10::cuda::CUDAGuard guard(device_);
    slots_[slot].released.Record(Computing());
    slots_[slot].is_released = true;
  }

  void AwaitAll() override {
    const c10::cuda::CUDAGuard guard(device_);
    all_.Record(lane_.stream());
    all_.Block(Computing());
    ForgetReleases();
  }

  void ForgetReleases() override {
    for (Slot& slot : slots_) slot.is_released = false;
  }

 private:
  struct Slot {
    Event copied, released;
    bool is_released = false;  // whether `released` was recorded since the latest copy
  };

  cudaStream_t Computing() const { return c10::cuda::getCurrentCUDAStream(device_).stream(); }

  const c10::DeviceIndex device_;
  Event all_;
  std::vector<Slot> slots_;
  const Lane lane_;  // last: it waits for copies before the rest is gone
};

}  // namespace
}  // namespace reel::model

extern "C" __attribute__((visibility("default"))) reel::model::CopyLane* reel_copy_lane(
    int device, size_t slots) {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
  return new reel::model::CudaCopyLane(device, slots);
}
