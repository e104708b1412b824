// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/torch_guard.h"

#include <c10/util/Exception.h>

#include <new>
#include <string>

#include "kernels/dispatch/device_gone.h"

namespace reel::model {
namespace {

constexpr size_t kMaxMessage = 400;

// The first line: the rest is libtorch's call stack.
std::string FirstLine(const std::exception& error) {
  std::string text = error.what();
  if (const auto* own = dynamic_cast<const c10::Error*>(&error)) {
    text = own->what_without_backtrace();
  }
  text = text.substr(0, text.find('\n'));
  return text.substr(0, kMaxMessage);
}

}  // namespace

absl::Status StatusOfTorchError(const std::exception& error) {
  if (const auto* refusal = dynamic_cast<const KernelError*>(&error)) return refusal->status();
  const std::string text = FirstLine(error);
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return absl::ResourceExhaustedError("out of memory in a tensor operation: " + text);
  }
  // The CPU allocator says it in words only.
  if (text.find("not enough memory") != std::string::npos ||
      text.find("can't allocate memory") != std::string::npos) {
    return absl::ResourceExhaustedError("out of memory in a tensor operation: " + text);
  }
  if (const auto* lost = dynamic_cast<const c10::AcceleratorError*>(&error)) {
    if (kernels::NeedsReset(lost->get_error_code())) {
      return kernels::DeviceGoneError("the device needs a reset: " + text);
    }
    return absl::AbortedError("the device's context is lost: " + text);
  }
  return absl::InternalError("a tensor operation failed: " + text);
}

}  // namespace reel::model
