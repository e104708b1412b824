// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/status_report.h"

#include <algorithm>

namespace reel::front {
namespace {

FleetStatus::NodeState StateOf(const NodeTable::Seen& seen) {
  using StateOfNode = FleetStatus::NodeState;
  if (seen.silent) return seen.beat.draining ? StateOfNode::kLeft : StateOfNode::kSilent;
  return seen.beat.draining ? StateOfNode::kDraining : StateOfNode::kServing;
}

}  // namespace

void StatusReport::Tick(absl::Duration now) {
  now_ = now;
  position_ = ports_.view.position();
  newest_ =
      std::max({position_, ports_.port.Health().newest, state_.beats.nodes().newest_position()});
  // Who told of more may have been no node of this log, or the log is another one now.
  goal_ = std::min(goal_, newest_);
  if (position_ < goal_) return;
  goal_ = newest_;
  since_ = now;
}

FleetStatus StatusReport::Make() const {
  FleetStatus status;
  AddLog(status);
  AddNodes(status);
  AddBacklog(status);
  AddOwn(status);
  return status;
}

void StatusReport::AddLog(FleetStatus& status) const {
  const LogHealth health = ports_.port.Health();
  FleetStatus::Log& log = status.log;
  log.connected = health.connected;
  log.answers = health.answers;
  log.ready = ports_.view.ready();
  log.position = position_;
  log.newest = newest_;
  if (position_ < goal_) log.behind = now_ - since_;
  log.holes = health.holes;
  log.rebuilds = health.rebuilds;
  log.versions = health.versions;
  for (const auto& [verdict, count] : ports_.view.voids()) log.voids[NameOf(verdict)] = count;
  const WriteQueue::Counts counts = ports_.writes.counts();
  log.won = counts.won;
  log.lost = counts.lost;
  log.unknown = counts.unknown;
  log.refused = counts.refused;
  log.writing = ports_.writes.size();
}

void StatusReport::AddNodes(FleetStatus& status) const {
  for (const auto& [name, seen] : state_.beats.nodes().All()) {
    const NodeBeat& beat = seen.beat;
    FleetStatus::Node node;
    node.name = name;
    node.address = beat.address;
    node.build = beat.build;
    node.state = StateOf(seen);
    node.is_this = name == state_.options.node;
    node.since_beat = seen.since;
    node.behind = newest_ - std::min(newest_, beat.position);
    node.claimed = beat.claimed;
    node.room = beat.room;
    node.unfit = beat.unfit;
    node.prompt_keys = beat.prompt_keys;
    const bool serves = node.state == FleetStatus::NodeState::kServing;
    for (const NodeBeat::Model& model : beat.models) {
      node.models.push_back({model.name, model.ready_devices});
      node.devices = std::max(node.devices, model.ready_devices);
      if (serves) status.backlog[model.name].ready_devices += model.ready_devices;
    }
    status.nodes.push_back(std::move(node));
  }
}

void StatusReport::AddBacklog(FleetStatus& status) const {
  for (const auto& [model, load] : state_.index.backlog().models()) {
    FleetStatus::Backlog& backlog = status.backlog[model];
    backlog.queued = load.queued;
    backlog.claimed = load.claimed;
    backlog.seconds = load.seconds();
  }
}

void StatusReport::AddOwn(FleetStatus& status) const {
  status.unfit = fitness_.All();
  status.clock = {ports_.clock.Skew(), state_.options.max_clock_skew};
  const Claimer::Counts& claims = claimer_.counts();
  const Holdings::Counts& held = holdings_.counts();
  status.claims = {claims.won, claims.lost, claims.takeovers, held.superseded, held.releases};
  const Deliveries::Counts& counts = deliveries_.counts();
  status.uploads = {deliveries_.enabled(), deliveries_.store_is_good(),
                    counts.waiting,        state_.options.deliver_backlog,
                    counts.waiting_bytes,  counts.stored,
                    counts.given_up,       counts.failed_tries};
}

}  // namespace reel::front
