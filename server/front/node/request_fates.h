// SPDX-License-Identifier: Apache-2.0
// The fates of the videos that a request id stands for: what each has become.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "server/front/fleet/fleet_view.h"

namespace reel::front {

struct Fates {
  int unknown = 0;                    // neither the video nor a trace of it is there
  int without_result = 0;             // they ended so
  bool locked = false;                // one is sealed with a key that is not here
  std::vector<FleetView::Key> shown;  // those that can be asked for
};

Fates FatesOf(FleetView& view, const std::vector<FleetView::Key>& keys, absl::Time now);

}  // namespace reel::front
