// SPDX-License-Identifier: Apache-2.0
#include "model/counted_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::model {

absl::Status CountedMemory::Take(int64_t bytes) {
  const int64_t left = memory_.total - memory_.in_use;
  if (bytes > left) {
    return absl::ResourceExhaustedError(
        absl::StrCat("The counted memory has too few bytes left: ", bytes, " of ", left));
  }
  memory_.in_use += bytes;
  memory_.peak = std::max(memory_.peak, memory_.in_use);
  memory_.most = std::max(memory_.most, memory_.in_use);
  memory_.held = memory_.reserved = memory_.in_use;
  return absl::OkStatus();
}

void CountedMemory::Give(int64_t bytes) {
  memory_.in_use -= bytes;
  memory_.held = memory_.reserved = memory_.in_use;
}

DeviceMemory CountedMemory::Read() {
  const DeviceMemory now = memory_;
  memory_.peak = memory_.in_use;
  return now;
}

CountedBytes& CountedBytes::operator=(CountedBytes&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

absl::Status CountedBytes::Resize(int64_t bytes) {
  if (memory_ == nullptr) return absl::OkStatus();
  if (bytes > bytes_) {
    const absl::Status taken = memory_->Take(bytes - bytes_);
    if (!taken.ok()) return taken;
  } else {
    memory_->Give(bytes_ - bytes);
  }
  bytes_ = bytes;
  return absl::OkStatus();
}

}  // namespace reel::model
