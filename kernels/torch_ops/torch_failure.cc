// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_ops/torch_failure.h"

#include <c10/util/Exception.h>

#include <string>

namespace reel::kernels {

void ThrowIfError(const absl::Status& status) {
  const std::string text(status.message());
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return;
    case absl::StatusCode::kInvalidArgument:
      C10_THROW_ERROR(ValueError, text);
    case absl::StatusCode::kUnimplemented:
      C10_THROW_ERROR(NotImplementedError, text);
    case absl::StatusCode::kResourceExhausted:
      C10_THROW_ERROR(OutOfMemoryError, text);
    default:
      C10_THROW_ERROR(Error, text);
  }
}

}  // namespace reel::kernels
