// SPDX-License-Identifier: Apache-2.0
// Events of the door for the metrics. Implementations are thread-safe and never block.
#pragma once

#include <string_view>

#include "absl/time/time.h"

namespace reel::front {

enum class DoorCut { kHeader, kBody, kStall, kIdle, kLimit };

class DoorObserver {
 public:
  virtual ~DoorObserver() = default;
  // `route` is a pattern of the table, or "none".
  virtual void RequestEnded(std::string_view route, int status, absl::Duration took) = 0;
  virtual void ConnectionOpened() = 0;
  virtual void ConnectionClosed() = 0;
  virtual void ConnectionCut(DoorCut why) = 0;
};

}  // namespace reel::front
