// SPDX-License-Identifier: Apache-2.0
// The one place where libtorch's exceptions become statuses: at the boundary of a pipeline.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::model {

// Of the exception that is being handled: RESOURCE_EXHAUSTED for memory of device or host, ABORTED
// when the device's context is lost, else INTERNAL.
absl::Status StatusOfTorchError(const std::exception& error);

// Runs `body`, which returns a Status or a StatusOr, without gradients.
template <typename Body>
auto TorchGuard(Body&& body) -> std::invoke_result_t<Body> {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& error) {
    return StatusOfTorchError(error);
  }
}

}  // namespace reel::model
