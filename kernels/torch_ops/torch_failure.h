// SPDX-License-Identifier: Apache-2.0
// Turns a kernel's status into an exception of libtorch.
#pragma once

#include "absl/status/status.h"

namespace reel::kernels {

// INVALID_ARGUMENT throws c10::ValueError (ValueError in Python), UNIMPLEMENTED
// c10::NotImplementedError, RESOURCE_EXHAUSTED c10::OutOfMemoryError, everything else c10::Error
// (RuntimeError).
void ThrowIfError(const absl::Status& status);

}  // namespace reel::kernels
