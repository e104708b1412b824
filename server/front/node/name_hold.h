// SPDX-License-Identifier: Apache-2.0
// Decides which of several processes under one node's name takes part in the fleet: the one that
// was there first. The others stand by until it is gone.
#pragma once

#include "absl/time/time.h"
#include "server/front/fleet/node_table.h"
#include "server/front/node/fitness.h"
#include "server/front/node/node_options.h"

namespace reel::front {

// Confined to the node's thread.
class NameHold {
 public:
  // Both outlive it.
  NameHold(const NodeOptions& options, Fitness& fitness)
      : options_(options), fitness_(fitness), holds_(options.alone) {}

  // `hears_since`: since when this process has heard its own beats without a break, and so would
  // hear others'; infinite: it does not.
  void Tick(absl::Duration now, const NodeTable& nodes, absl::Duration hears_since);
  // This process slept, or was cut off: another may have the name now.
  void Drop(absl::Duration now);

  // This process may act under the name.
  bool holds() const { return holds_; }
  // Another one may: this one neither acts nor beats.
  bool stands_by() const { return stands_by_; }

 private:
  const NodeOptions& options_;
  Fitness& fitness_;
  bool holds_, stands_by_ = false;
  absl::Duration not_before_ = -absl::InfiniteDuration();
};

}  // namespace reel::front
