// SPDX-License-Identifier: Apache-2.0
// Brings what a server had queued or running when it was alone into the log of the fleet that it
// joins.
#pragma once

#include "absl/status/status.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/video.h"
#include "server/front/node/node_options.h"
#include "server/front/objects/object_store.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// The stores of a server that may have been alone.
struct EarlierStores {
  JobStore& rows;
  MediaStore& media;
  const VideoSerializer& serializer;
};

// Each video keeps its name; one that had begun is another attempt. What has ended stays a row of
// this server. A video that the fleet cannot take fails. Blocks; before the node starts. An error
// is for the next start: what is not in the log by then has stayed a row.
absl::Status BringIntoFleet(const EarlierStores& stores, const NodeOptions& node,
                            ObjectStore* objects, LogPort& log);

}  // namespace reel::front
