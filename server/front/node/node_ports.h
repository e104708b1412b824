// SPDX-License-Identifier: Apache-2.0
// The dispatcher, the log and its view, the clock and the thread that a node works with.
#pragma once

#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/node/fleet_clock.h"
#include "server/front/node/write_queue.h"

namespace reel::front {

// They outlive the node.
struct NodePorts {
  Dispatcher& jobs;
  LogPort& port;
  WriteQueue& writes;
  FleetView& view;
  FleetClock& clock;
  const OwnThread& thread;
};

}  // namespace reel::front
