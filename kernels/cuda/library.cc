// SPDX-License-Identifier: Apache-2.0
// The entry of libreel_cuda.so: one exported function that returns all variants.
#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include "kernels/cuda/error_kind.h"
#include "kernels/cuda/graph_zeros.h"
#include "kernels/cuda/host_copies.h"
#include "kernels/cuda/library_variants.h"
#include "kernels/cuda/rank_give_launch.h"

namespace reel::kernels {
namespace {

const char* ErrorName(int32_t error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); }

int32_t DeviceCount(int32_t* count) {
  int found = 0;
  const cudaError_t error = cudaGetDeviceCount(&found);
  *count = error == cudaSuccess ? found : 0;
  return error;
}

int32_t Properties(int32_t device, DeviceProperties* properties) {
  cudaDeviceProp found{};
  const cudaError_t error = cudaGetDeviceProperties(&found, device);
  if (error != cudaSuccess) return error;
  *properties = {.sm = found.major * 10 + found.minor,
                 .memory_bytes = static_cast<int64_t>(found.totalGlobalMem),
                 .name = {}};
  std::memcpy(properties->name, found.name, sizeof(properties->name) - 1);
  return cudaSuccess;
}

int32_t EventCreate(int32_t device, void** event) {
  const cudaError_t error = cudaSetDevice(device);
  if (error != cudaSuccess) return error;
  return cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event));
}

int32_t EventRecord(void* event, void* stream) {
  return cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream));
}

int32_t NanosecondsBetween(void* start, void* end, int64_t* nanoseconds) {
  float milliseconds = 0;
  cudaError_t error = cudaEventSynchronize(static_cast<cudaEvent_t>(end));
  if (error == cudaSuccess) {
    error = cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(start),
                                 static_cast<cudaEvent_t>(end));
  }
  *nanoseconds = static_cast<int64_t>(1e6 * static_cast<double>(milliseconds));
  return error;
}

// When a process ends, the device and its events may already be gone.
void EventDestroy(void* event) { (void)cudaEventDestroy(static_cast<cudaEvent_t>(event)); }

std::vector<OpVariants> AllVariants() {
  return {
#define REEL_OPERATOR(op, name, ...) name##CudaVariants(),
#define REEL_FUSED_OPERATOR REEL_OPERATOR
#include "kernels/operators.def"
#undef REEL_FUSED_OPERATOR
#undef REEL_OPERATOR
  };
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const CudaLibraryTable* reel_cuda_library() {
  // Lives as long as the library, which is never closed.
  static const std::vector<OpVariants>* const ops = new std::vector<OpVariants>(AllVariants());
  static const CudaLibraryTable table = {
      .version = kCudaLibraryVersion,
      .num_ops = static_cast<int32_t>(ops->size()),
      .ops = ops->data(),
      .error_name = &ErrorName,
      .error_kind = &CudaErrorKind,
      .device_count = &DeviceCount,
      .device_properties = &Properties,
      .event_create = &EventCreate,
      .event_record = &EventRecord,
      .nanoseconds_between = &NanosecondsBetween,
      .event_destroy = &EventDestroy,
      .zeros_as_kernels = &ZerosAsKernels,
      .give_to_ranks = &GiveToRanks,
      .time_copies = &TimeCopies,
  };
  return &table;
}

}  // namespace reel::kernels
