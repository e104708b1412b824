// SPDX-License-Identifier: Apache-2.0
// Marks errors after which a device is unusable until it is reset or replaced. They are ABORTED
// like every lost context.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reel::kernels {

// Takes a cudaError_t as a number, since callers may lack CUDA headers.
bool NeedsReset(int32_t cuda_error);

absl::Status DeviceGoneError(absl::string_view message);
bool IsDeviceGone(const absl::Status& status);

}  // namespace reel::kernels
