// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/error.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/error_kind.h"
#include "kernels/dispatch/device_gone.h"

namespace reel::kernels {

absl::Status CudaStatus(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return absl::OkStatus();
  static_cast<void>(cudaGetLastError());
  const std::string text = absl::StrCat("CUDA failed: ", call, ", ", cudaGetErrorName(error), ", ",
                                        cudaGetErrorString(error));
  switch (CudaErrorKind(error)) {
    case DeviceErrorKind::kOutOfMemory:
      return absl::ResourceExhaustedError(text);
    case DeviceErrorKind::kSticky:
      return NeedsReset(error) ? DeviceGoneError(text) : absl::AbortedError(text);
    case DeviceErrorKind::kOther:
      break;
  }
  return absl::InternalError(text);
}

void ReportCudaError(cudaError_t error, const char* call) noexcept {
  if (error == cudaSuccess || error == cudaErrorCudartUnloading) return;
  std::fprintf(stderr, "%s failed: %s\n", call, cudaGetErrorName(error));
}

}  // namespace reel::kernels
