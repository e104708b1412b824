// SPDX-License-Identifier: Apache-2.0
// A fleet as the API shows it.
#pragma once

#include "reel/v1/server_service.pb.h"
#include "server/front/jobs/fleet_status.h"

namespace reel::front {

v1::GetFleetResponse FleetToProto(const FleetStatus& status);
v1::FleetCheck CheckToProto(const FleetCheck& check);

}  // namespace reel::front
