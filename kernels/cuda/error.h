// SPDX-License-Identifier: Apache-2.0
// CUDA runtime errors as statuses. Compiled only with REEL_CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "absl/status/status.h"

namespace reel::kernels {

// OK for cudaSuccess; RESOURCE_EXHAUSTED for memory, ABORTED if the context is lost, otherwise
// INTERNAL, with the name of `call` and of the error. Clears an error that is not sticky, so that
// it is not blamed on the next call.
absl::Status CudaStatus(cudaError_t error, const char* call);

// For destructors, which cannot return errors: reports a failure on stderr, unless the driver is
// shutting down, when every call fails.
void ReportCudaError(cudaError_t error, const char* call) noexcept;

}  // namespace reel::kernels
