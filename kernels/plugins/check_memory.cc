// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/check_memory.h"

#include <cstdint>
#include <cstring>

namespace reel::kernels {

absl::StatusOr<void*> HostCheckMemory::Place(absl::Span<const std::byte> bytes) {
  std::string& place = places_.emplace_back(bytes.size() + 16, '\0');
  const auto address = reinterpret_cast<uintptr_t>(place.data());
  char* const aligned = place.data() + (16 - address % 16) % 16;
  std::memcpy(aligned, bytes.data(), bytes.size());
  return aligned;
}

absl::Status HostCheckMemory::Read(const void* place, absl::Span<std::byte> bytes) {
  std::memcpy(bytes.data(), place, bytes.size());
  return absl::OkStatus();
}

}  // namespace reel::kernels
