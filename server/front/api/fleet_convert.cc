// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/fleet_convert.h"

#include <cstdint>
#include <numeric>

#include "server/convert/proto_duration.h"

namespace reel::front {
namespace {

v1::FleetNodeState StateToProto(FleetStatus::NodeState state) {
  switch (state) {
    case FleetStatus::NodeState::kServing:
      return v1::FLEET_NODE_STATE_SERVING;
    case FleetStatus::NodeState::kDraining:
      return v1::FLEET_NODE_STATE_DRAINING;
    case FleetStatus::NodeState::kSilent:
      return v1::FLEET_NODE_STATE_SILENT;
    case FleetStatus::NodeState::kLeft:
      return v1::FLEET_NODE_STATE_LEFT;
  }
  return v1::FLEET_NODE_STATE_UNSPECIFIED;
}

void NodeToProto(const FleetStatus::Node& node, v1::FleetNode& proto) {
  proto.set_name(node.name);
  proto.set_state(StateToProto(node.state));
  proto.set_address(node.address);
  proto.set_build(node.build);
  SetProtoDuration(*proto.mutable_since_beat(), node.since_beat);
  proto.set_ready_devices(node.devices);
  proto.set_claimed(node.claimed);
  proto.set_room(node.room);
  proto.set_behind_messages(static_cast<int64_t>(node.behind));
  for (const FleetStatus::Model& model : node.models) {
    v1::FleetNodeModel& one = *proto.add_models();
    one.set_name(model.name);
    one.set_ready_devices(model.ready_devices);
  }
}

void LogToProto(const FleetStatus::Log& log, v1::FleetLog& proto) {
  proto.set_connected(log.connected);
  proto.set_answers(log.answers);
  proto.set_ready(log.ready);
  proto.set_position(static_cast<int64_t>(log.position));
  proto.set_behind_messages(static_cast<int64_t>(log.newest - log.position));
  SetProtoDuration(*proto.mutable_behind(), log.behind);
  for (const auto& [reason, count] : log.voids) (*proto.mutable_void_messages())[reason] = count;
  proto.set_unanswered(log.unknown);
  for (const std::string& version : log.versions) proto.add_broker_versions(version);
}

void ClaimsToProto(const FleetStatus::Claims& claims, v1::FleetClaims& proto) {
  proto.set_won(claims.won);
  proto.set_lost(claims.lost);
  proto.set_takeovers(claims.takeovers);
  proto.set_superseded(claims.superseded);
  proto.set_released(std::accumulate(claims.releases.begin(), claims.releases.end(), int64_t{0}));
}

void UploadsToProto(const FleetStatus::Uploads& uploads, v1::FleetUploads& proto) {
  proto.set_store_works(uploads.store_good);
  proto.set_waiting(uploads.waiting);
  proto.set_waiting_bytes(uploads.waiting_bytes);
  proto.set_limit(uploads.limit);
  proto.set_failed_tries(uploads.failed_tries);
}

}  // namespace

v1::GetFleetResponse FleetToProto(const FleetStatus& status) {
  v1::GetFleetResponse proto;
  proto.set_name(status.fleet);
  proto.set_node(status.node);
  for (const FleetStatus::Node& node : status.nodes) NodeToProto(node, *proto.add_nodes());
  for (const auto& [name, backlog] : status.backlog) {
    v1::FleetModel& model = *proto.add_models();
    model.set_name(name);
    model.set_queued(backlog.queued);
    model.set_claimed(backlog.claimed);
    SetProtoDuration(*model.mutable_backlog(), absl::Seconds(backlog.seconds));
    model.set_ready_devices(backlog.ready_devices);
  }
  LogToProto(status.log, *proto.mutable_log());
  ClaimsToProto(status.claims, *proto.mutable_claims());
  if (status.uploads.enabled) UploadsToProto(status.uploads, *proto.mutable_uploads());
  return proto;
}

v1::FleetCheck CheckToProto(const FleetCheck& check) {
  v1::FleetCheck proto;
  proto.set_name(check.name);
  proto.set_ok(check.ok);
  proto.set_detail(check.detail);
  proto.set_hint(check.hint);
  return proto;
}

}  // namespace reel::front
