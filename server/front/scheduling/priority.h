// SPDX-License-Identifier: Apache-2.0
// The rank of a video among those of its tenant.
#pragma once

namespace reel::front {

enum class Priority { kLow, kNormal, kHigh };

}  // namespace reel::front
