// SPDX-License-Identifier: Apache-2.0
// The error of a reader that asks for bytes behind the end of a file.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace reel::front {

// OFFSET_PAST_END.
absl::Status OffsetPastEnd(int64_t offset, int64_t size);

}  // namespace reel::front
