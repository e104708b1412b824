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

// Where the variants under test read and write: the host, or a device.
class CheckMemory {
 public:
  virtual ~CheckMemory() = default;
  // A copy of `bytes`, at a multiple of 16, until Clear.
  virtual absl::StatusOr<void*> Place(absl::Span<const std::byte> bytes) = 0;
  // Back, once everything that was launched is through.
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
