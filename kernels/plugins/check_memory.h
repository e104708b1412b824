// SPDX-License-Identifier: Apache-2.0
// Memory for the test of plug-ins (kernels/plugins/plugin_check.h), on the host or on a device.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace reel::kernels {

// The memory of variants under test: the host's, or a device's.
class CheckMemory {
 public:
  virtual ~CheckMemory() = default;
  // Copies `bytes` to an address that is a multiple of 16; valid until Clear.
  virtual absl::StatusOr<void*> Place(absl::Span<const std::byte> bytes) = 0;
  // Copies back, after everything launched has ended.
  virtual absl::Status Read(const void* place, absl::Span<std::byte> bytes) = 0;
  virtual void Clear() = 0;
};

class HostCheckMemory final : public CheckMemory {
 public:
  absl::StatusOr<void*> Place(absl::Span<const std::byte> bytes) override;
  absl::Status Read(const void* place, absl::Span<std::byte> bytes) override;
  void Clear() override { places_.clear(); }

 private:
  std::deque<std::string> places_;
};

}  // namespace reel::kernels
