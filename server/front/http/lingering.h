// SPDX-License-Identifier: Apache-2.0
// Bounds of what a connection reads and drops after its last reply.
#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace reel::front {

// A browser sends the whole body of a request before it reads, and a reset would take the reply
// away. All of these bounds hold.
struct Lingering {
  size_t bytes = 128 << 20;
  absl::Duration pause = absl::Seconds(5);  // without a byte
  absl::Duration time = absl::Seconds(30);  // in all, and a second more for each bytes_per_second
  size_t bytes_per_second = 128 << 10;
};

}  // namespace reel::front
