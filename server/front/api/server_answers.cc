// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/server_answers.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "model/refinement.h"
#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/front/api/video_convert.h"
#include "server/front/api/video_cursor.h"

namespace reel::front {
namespace {

using NodeState = FleetStatus::NodeState;
static_assert(EnumToProto<v1::FleetNodeState>(NodeState::kLeft) == v1::FLEET_NODE_STATE_LEFT);
static_assert(EnumToProto<v1::WorkerState>(WorkerState::kOut) == v1::WORKER_STATE_OUT);
static_assert(EnumToProto<v1::ModelState>(ModelState::kOnDemand) == v1::MODEL_STATE_ON_DEMAND);
static_assert(EnumToProto<v1::ExperimentVerdict>(ExperimentVerdict::kSecondSlower) ==
              v1::EXPERIMENT_VERDICT_SECOND_SLOWER);

void NodeToProto(const FleetStatus::Node& node, v1::FleetNode& proto) {
  proto.set_name(node.name);
  proto.set_state(EnumToProto<v1::FleetNodeState>(node.state));
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

namespace {

// For people; the names are the metrics'.
std::string OutReasonText(OutReason reason) {
  switch (reason) {
    case OutReason::kDevice:
      return "The device is gone, needs a reset or cannot be opened; the worker's log says which";
    case OutReason::kFaults:
      return "The worker was lost too often by its own making; the log says of what";
    case OutReason::kNoModel:
      return "None of the worker's models could be loaded; their problems say why";
    case OutReason::kNone:
      break;
  }
  return "";
}

v1::Limits LimitsToProto(const ServerFacts& facts, const std::string& tenant) {
  v1::Limits proto;
  proto.set_max_prompt_bytes(facts.rules.limits.max_prompt_bytes);
  proto.set_max_condition_bytes(facts.rules.limits.max_condition_bytes);
  proto.set_max_file_bytes(facts.rules.limits.max_file_bytes);
  proto.set_max_conditions(facts.rules.limits.max_conditions);
  proto.set_max_condition_pixels(facts.rules.limits.max_condition_pixels);
  proto.set_max_media_chunk_bytes(static_cast<int32_t>(kMaxChunkBytes));
  SetProtoDuration(*proto.mutable_max_timeout(), facts.rules.max_timeout);
  SetProtoDuration(*proto.mutable_default_timeout(), facts.rules.default_timeout);
  const auto configured = facts.max_jobs.find(tenant);
  proto.set_max_jobs_per_tenant(configured != facts.max_jobs.end() ? configured->second
                                                                   : facts.max_jobs_of_others);
  return proto;
}

// One entry per operator and variant over all workers; the first worker's order is the list's.
void MergeOp(const v1::KernelOp& from, v1::KernelOp& into) {
  into.set_op(from.op());
  for (const v1::KernelVariant& variant : from.variants()) {
    v1::KernelVariant* known = nullptr;
    for (v1::KernelVariant& candidate : *into.mutable_variants()) {
      if (candidate.name() == variant.name()) known = &candidate;
    }
    if (known == nullptr) {
      *into.add_variants() = variant;
    } else {
      known->mutable_support()->MergeFrom(variant.support());
    }
  }
}

v1::ExperimentShape ShapeToProto(const ExperimentShape& shape) {
  v1::ExperimentShape proto;
  proto.set_model(shape.model);
  proto.set_width(shape.width);
  proto.set_height(shape.height);
  proto.set_num_frames(shape.num_frames);
  for (const Moments& log_step : shape.log_step) {
    v1::ExperimentSteps& steps = *proto.add_arms();
    steps.set_videos(log_step.count());
    if (log_step.count() == 0) continue;
    SetProtoDuration(*steps.mutable_step(), absl::Seconds(std::exp(log_step.mean())));
  }
  if (shape.ratio) {
    proto.set_ratio(shape.ratio->value);
    proto.set_ratio_low(shape.ratio->low);
    proto.set_ratio_high(shape.ratio->high);
  }
  proto.set_verdict(EnumToProto<v1::ExperimentVerdict>(shape.verdict));
  return proto;
}

v1::ExperimentShadows ShadowsToProto(const ShadowTally& shadows) {
  v1::ExperimentShadows proto;
  proto.set_identical(shadows.identical);
  proto.set_differ(shadows.differ);
  proto.set_given_up(shadows.given_up);
  proto.set_failed(shadows.failed);
  if (shadows.differ > 0) {
    proto.set_psnr_db(shadows.psnr_db.mean());
    proto.set_lowest_psnr_db(shadows.lowest_psnr_db);
    proto.set_lowest_ssim(shadows.lowest_ssim);
  }
  if (const auto ratio = PairedRatio(shadows.log_ratio)) {
    proto.set_ratio(ratio->value);
    proto.set_ratio_low(ratio->low);
    proto.set_ratio_high(ratio->high);
  }
  return proto;
}

v1::Experiment ExperimentToProto(const ExperimentReport& report) {
  v1::Experiment proto;
  proto.set_name(report.options.name);
  proto.set_model(report.options.model);
  proto.set_share(report.options.share);
  for (size_t i = 0; i < report.arms.size(); ++i) {
    v1::ExperimentArm& arm = *proto.add_arms();
    arm.set_name(report.options.arms[i].name);
    arm.set_profile(report.options.arms[i].profile);
    arm.set_share(report.options.arms[i].share);
    arm.set_videos(report.arms[i].videos);
    arm.set_failed(report.arms[i].failed);
  }
  for (const ExperimentShape& shape : report.shapes) *proto.add_shapes() = ShapeToProto(shape);
  proto.set_shadow_share(report.options.shadow_share);
  *proto.mutable_shadows() = ShadowsToProto(report.shadows);
  return proto;
}

// One entry per plug-in over all workers.
void MergePlugin(const v1::KernelPlugin& from, v1::KernelPlugin& into) {
  into.set_name(from.name());
  into.mutable_support()->MergeFrom(from.support());
}

}  // namespace

v1::Worker WorkerToProto(const WorkerInfo& worker, int running) {
  v1::Worker proto;
  proto.set_name(worker.name);
  proto.set_device(worker.device);
  proto.set_state(EnumToProto<v1::WorkerState>(worker.state));
  proto.set_memory_total_bytes(worker.memory.total);
  proto.set_memory_used_bytes(worker.memory.held);
  proto.set_memory_allocated_bytes(worker.memory.in_use);
  proto.set_memory_reserved_bytes(worker.memory.reserved);
  proto.set_memory_kept_bytes(worker.memory.kept);
  proto.set_memory_peak_bytes(worker.memory.most);
  proto.set_copy_bytes_per_second(worker.copy_bytes_per_second);
  proto.set_running(running);
  proto.set_restarts(worker.restarts);
  proto.set_out_reason(OutReasonText(worker.out));
  for (const std::string& model : worker.models) proto.add_models(model);
  return proto;
}

v1::Model ModelToProto(const ServedModel& served) {
  v1::Model proto = CardToProto(served.card);
  for (std::string& preset : model::RefiningPresets(served.card)) {
    proto.add_refining_presets(std::move(preset));
  }
  proto.set_is_default(served.is_default);
  proto.set_ready(served.ready);
  proto.set_state(EnumToProto<v1::ModelState>(served.state));
  proto.set_problem(served.problem);
  return proto;
}

ServerAnswers::ServerAnswers(const JobService& jobs, ServerFacts facts)
    : jobs_(jobs), facts_(std::move(facts)) {}

void ServerAnswers::FillInfo(v1::GetServerInfoResponse& response, const std::string& tenant) const {
  response.set_version(facts_.version);
  response.set_revision(facts_.revision);
  SetProtoDuration(*response.mutable_uptime(),
                   absl::FromChrono(std::chrono::steady_clock::now() - facts_.started));
  response.set_draining(jobs_.draining());
  response.set_replica(jobs_.ReplicaName());
  if (facts_.door != nullptr) {
    const DoorFacts door = facts_.door();
    response.set_http_url(door.url);
    response.set_has_page(door.page);
  }
  for (const WorkerInfo& worker : jobs_.Workers()) {
    *response.add_workers() = WorkerToProto(worker, jobs_.Running(worker.name));
  }
  *response.mutable_limits() = LimitsToProto(facts_, tenant);
  for (const std::string& profile : jobs_.KernelProfiles()) {
    response.add_kernel_profiles(profile);
  }
  for (const std::string& profile : jobs_.LossyKernelProfiles()) {
    response.add_lossy_kernel_profiles(profile);
  }
}

void ServerAnswers::FillModels(v1::ListModelsResponse& response) const {
  for (const ServedModel& served : jobs_.Models()) *response.add_models() = ModelToProto(served);
}

void ServerAnswers::FillExperiments(v1::ListExperimentsResponse& response) const {
  for (const ExperimentReport& report : jobs_.Experiments()) {
    *response.add_experiments() = ExperimentToProto(report);
  }
}

void ServerAnswers::FillFleet(v1::GetFleetResponse& response) const {
  if (const std::optional<FleetStatus> status = jobs_.Fleet()) response = FleetToProto(*status);
}

void ServerAnswers::FillKernels(v1::ListKernelsResponse& response) const {
  std::map<std::string, v1::KernelOp> ops;
  std::map<std::string, v1::KernelPlugin> plugins;
  for (const WorkerInfo& worker : jobs_.Workers()) {
    for (const kernels::OpListing& op : worker.kernels) {
      MergeOp(ListingToProto(op, worker.name), ops[op.op]);
    }
    for (const kernels::PluginListing& plugin : worker.plugins) {
      MergePlugin(PluginToProto(plugin, worker.name), plugins[plugin.name]);
    }
  }
  for (auto& [name, op] : ops) *response.add_ops() = std::move(op);
  for (auto& [name, plugin] : plugins) *response.add_plugins() = std::move(plugin);
}

}  // namespace reel::front
