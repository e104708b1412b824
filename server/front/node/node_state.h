// SPDX-License-Identifier: Apache-2.0
// A node's knowledge of the fleet: live videos, tenants' use, other nodes, and callers that wait
// for the log. Owned by its thread.
#pragma once

#include <utility>

#include "server/front/node/beats.h"
#include "server/front/node/fleet_use.h"
#include "server/front/node/node_options.h"
#include "server/front/node/node_ports.h"
#include "server/front/node/object_keys.h"
#include "server/front/node/video_faces.h"
#include "server/front/node/video_index.h"
#include "server/front/node/view_barrier.h"

namespace reel::front {

// Confined to the node's thread. Arguments outlive it.
struct NodeState {
  NodeState(const NodeOptions& node_options, const NodePorts& ports,
            const VideoSerializer& serializer, Peers peers, MediaFetches* fetches)
      : options(node_options),
        index({serializer, options.seal}),
        faces(ports.view, {serializer, options.seal}, {options.node, std::move(peers), fetches},
              ports.clock),
        beats(ports.port, ports.jobs, serializer, options) {}

  const NodeOptions& options;
  VideoIndex index;
  FleetUse use;
  VideoFaces faces;
  FoldWaiters waiters;
  Beats beats;
};

}  // namespace reel::front
