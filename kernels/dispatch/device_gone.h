// SPDX-License-Identifier: Apache-2.0
// Errors after which not only a process but a device is of no use until somebody resets or replaces
// it. They are ABORTED like every lost context, and marked.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reel::kernels {

// Of a cudaError_t, by its number: where it is asked there may be no CUDA headers.
bool NeedsReset(int32_t cuda_error);

absl::Status DeviceGoneError(absl::string_view message);
bool IsDeviceGone(const absl::Status& status);

}  // namespace reel::kernels
