// SPDX-License-Identifier: Apache-2.0
// The one place where libtorch's exceptions become statuses: at the boundary of a pipeline. What
// lies between that boundary and an operator speaks in exceptions because libtorch does.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::model {

// A kernel's refusal on its way to the guard, which gives the status back as it was.
class KernelError : public std::exception {
 public:
  explicit KernelError(absl::Status status) : status_(std::move(status)) {}
  const absl::Status& status() const { return status_; }
  const char* what() const noexcept override { return "a kernel refused a call"; }

 private:
  const absl::Status status_;
};

inline void ThrowIfError(absl::Status status) {
  if (!status.ok()) throw KernelError(std::move(status));
}

// The status of the exception that is being handled. A kernel's own status; RESOURCE_EXHAUSTED for
// memory of device or host, ABORTED when the device's context is lost, else INTERNAL.
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
