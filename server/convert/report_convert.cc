// SPDX-License-Identifier: Apache-2.0
#include "server/convert/report_convert.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/convert/convert.h"
#include "server/convert/field_convert.h"
#include "server/convert/proto_duration.h"
#include "server/convert/worker_convert.h"

namespace reel {
namespace {

using worker::v1::AttachRequest;

// Sets the job and its attempt, which every message about a job has.
template <typename Message>
Message& Name(const JobRef& ref, Message* message) {
  message->set_job(ref.job);
  message->set_attempt(ref.attempt);
  return *message;
}
template <typename Message>
JobRef RefOf(const Message& message) {
  return {message.job(), message.attempt()};
}

worker::v1::Step StepToProto(const StepSample& sample) {
  worker::v1::Step step;
  MessageWriter write(step);
  VisitFields(write, sample);
  step.set_stage(StageToProto(sample.stage));
  for (const kernels::VariantTime& time : sample.kernels) {
    *step.add_kernels() = KernelStatToProto(time);
  }
  return step;
}

StepSample StepFromProto(const worker::v1::Step& step) {
  StepSample sample;
  MessageReader read(step);
  VisitFields(read, sample);
  sample.stage = StageFromProto(step.stage());
  for (const v1::KernelStat& stat : step.kernels()) {
    sample.kernels.push_back(KernelStatFromProto(stat));
  }
  return sample;
}

// Without `total`, which Hello carries, and `peak`, which belongs to one reading.
worker::v1::DeviceMemory MemoryToProto(const model::DeviceMemory& memory) {
  worker::v1::DeviceMemory proto;
  proto.set_held(memory.held);
  proto.set_reserved(memory.reserved);
  proto.set_allocated(memory.in_use);
  proto.set_kept(memory.kept);
  proto.set_most(memory.most);
  return proto;
}

model::DeviceMemory MemoryFromProto(const worker::v1::DeviceMemory& proto) {
  return {.held = proto.held(),
          .reserved = proto.reserved(),
          .in_use = proto.allocated(),
          .kept = proto.kept(),
          .most = proto.most()};
}

// One function for each event. `report` has everything but the event.
void Put(const WorkerReport& report, KernelsListed event, AttachRequest& message) {
  worker::v1::KernelList& list = *message.mutable_kernels();
  for (const kernels::OpListing& op : event.kernels) {
    *list.add_kernels() = ListingToProto(op, report.worker);
  }
  for (const kernels::PluginListing& plugin : event.plugins) {
    *list.add_plugins() = PluginToProto(plugin, report.worker);
  }
}

void Put(const WorkerReport&, ModelLoaded event, AttachRequest& message) {
  *message.mutable_model_state() = CardToModelState(event.card);
  message.mutable_model_state()->set_model(std::move(event.model));
  message.mutable_model_state()->set_revision(event.revision);
  for (const WarmedUp& video : event.warm_ups) {
    worker::v1::WarmedUp& added = *message.mutable_model_state()->add_warm_ups();
    *added.mutable_size() = SizeToProto(video.size);
    SetProtoDuration(*added.mutable_took(), video.took);
    if (!video.status.ok()) *added.mutable_error() = ErrorToProto(video.status, false);
  }
}

void Put(const WorkerReport&, ModelKnown event, AttachRequest& message) {
  *message.mutable_model_state() = CardToModelState(event.card);
  message.mutable_model_state()->set_model(std::move(event.model));
  message.mutable_model_state()->set_only_known(true);
}

void Put(const WorkerReport&, ModelFailed event, AttachRequest& message) {
  *message.mutable_model_state()->mutable_error() = ErrorToProto(event.error, false);
  message.mutable_model_state()->set_model(std::move(event.model));
  message.mutable_model_state()->set_revision(event.revision);
}

void Put(const WorkerReport&, Stepped event, AttachRequest& message) {
  worker::v1::StepStats& stats = *message.mutable_step_stats();
  for (const StepSample& sample : event.steps) *stats.add_steps() = StepToProto(sample);
  if (event.memory != model::DeviceMemory()) *stats.mutable_memory() = MemoryToProto(event.memory);
  stats.set_prompt_cache_hits(event.prompts.remembered);
  stats.set_prompt_cache_misses(event.prompts.encoded);
  stats.set_millijoules(event.millijoules);
  stats.set_weights_host_bytes(event.held.host_weights);
  if (event.adapters == model::AdapterCounts() && event.held.adapters == 0) return;
  worker::v1::AdapterCounts& adapters = *stats.mutable_adapters();
  adapters.set_uploaded(event.adapters.uploaded);
  adapters.set_refused(event.adapters.refused);
  SetProtoDuration(*adapters.mutable_took(), absl::Nanoseconds(event.adapters.nanoseconds));
  adapters.set_held_bytes(event.held.adapters);
}

void Put(const WorkerReport& report, JobProgress event, AttachRequest& message) {
  worker::v1::JobProgress& progress = Name(report.ref, message.mutable_progress());
  progress.set_stage(StageToProto(event.stage));
  progress.set_step(event.step);
  progress.set_num_steps(event.num_steps);
}

void Put(const WorkerReport& report, JobPreview event, AttachRequest& message) {
  v1::Preview& image = *Name(report.ref, message.mutable_preview()).mutable_preview();
  image.set_step(event.step);
  image.set_image(std::move(event.jpeg));
  image.set_width(event.width);
  image.set_height(event.height);
}

void Put(const WorkerReport& report, JobMedia event, AttachRequest& message) {
  worker::v1::JobMedia& media = Name(report.ref, message.mutable_media());
  media.set_offset(event.offset);
  media.set_data(std::move(event.bytes));
  media.set_fragment_end(event.fragment_end);
}

void Put(const WorkerReport& report, JobState event, AttachRequest& message) {
  worker::v1::StateData& state = Name(report.ref, message.mutable_state());
  state.set_offset(event.offset);
  state.set_data(std::move(event.bytes));
}

void Put(const WorkerReport& report, JobParked event, AttachRequest& message) {
  Name(report.ref, message.mutable_parked()).set_device_bytes(event.device_bytes);
}

void Put(const WorkerReport& report, JobFinished event, AttachRequest& message) {
  worker::v1::JobFinished& finished = Name(report.ref, message.mutable_finished());
  *finished.mutable_stats() = StatsToProto(event.stats);
  finished.set_size_bytes(event.media.size_bytes);
  *finished.mutable_media() = MediaToProto(event.media);
  for (const model::Notice& notice : event.notices) *finished.add_notices() = NoticeToProto(notice);
  finished.set_memory_bytes(event.memory_bytes);
  finished.set_state_size_bytes(event.state_size_bytes);
  finished.set_state_sha256(std::move(event.state_sha256));
}

void Put(const WorkerReport& report, JobFailed event, AttachRequest& message) {
  worker::v1::JobFailed& failed = Name(report.ref, message.mutable_failed());
  *failed.mutable_error() = ErrorToProto(event.error, event.suspect);
  failed.set_device_lost(event.device_lost);
}

// The other direction.
WorkerReport Get(const worker::v1::KernelList& list) {
  KernelsListed event;
  for (const v1::KernelOp& op : list.kernels()) event.kernels.push_back(ListingFromProto(op));
  for (const v1::KernelPlugin& plugin : list.plugins()) {
    event.plugins.push_back(PluginFromProto(plugin));
  }
  return {{}, {}, std::move(event)};
}

WorkerReport Get(const worker::v1::ModelState& state) {
  if (!state.has_card()) {
    return {{}, {}, ModelFailed{state.model(), ErrorFromProto(state.error()), state.revision()}};
  }
  if (state.only_known()) return {{}, {}, ModelKnown{state.model(), CardFromModelState(state)}};
  ModelLoaded loaded{state.model(), CardFromModelState(state), state.revision()};
  for (const worker::v1::WarmedUp& video : state.warm_ups()) {
    loaded.warm_ups.push_back(
        {SizeFromProto(video.size()), FromProtoDuration(video.took()),
         video.has_error() ? ErrorFromProto(video.error()) : absl::OkStatus()});
  }
  return {{}, {}, std::move(loaded)};
}

WorkerReport Get(const worker::v1::StepStats& stats) {
  Stepped event;
  for (const worker::v1::Step& step : stats.steps()) event.steps.push_back(StepFromProto(step));
  event.memory = MemoryFromProto(stats.memory());
  event.prompts = {stats.prompt_cache_hits(), stats.prompt_cache_misses()};
  event.millijoules = stats.millijoules();
  event.held.host_weights = stats.weights_host_bytes();
  if (stats.has_adapters()) {
    const worker::v1::AdapterCounts& adapters = stats.adapters();
    event.adapters = {adapters.uploaded(), adapters.refused(),
                      absl::ToInt64Nanoseconds(FromProtoDuration(adapters.took()))};
    event.held.adapters = adapters.held_bytes();
  }
  return {{}, {}, std::move(event)};
}

WorkerReport Get(const worker::v1::JobProgress& progress) {
  return {{},
          RefOf(progress),
          JobProgress{StageFromProto(progress.stage()), progress.step(), progress.num_steps()}};
}

WorkerReport Get(worker::v1::JobPreview& preview) {
  v1::Preview& image = *preview.mutable_preview();
  return {
      {},
      RefOf(preview),
      JobPreview{image.step(), std::move(*image.mutable_image()), image.width(), image.height()}};
}

WorkerReport Get(worker::v1::JobMedia& media) {
  return {{},
          RefOf(media),
          JobMedia{media.offset(), std::move(*media.mutable_data()), media.fragment_end()}};
}

WorkerReport Get(worker::v1::StateData& state) {
  return {{}, RefOf(state), JobState{state.offset(), std::move(*state.mutable_data())}};
}

WorkerReport Get(const worker::v1::JobParked& parked) {
  return {{}, RefOf(parked), JobParked{parked.device_bytes()}};
}

WorkerReport Get(const worker::v1::JobFinished& finished) {
  JobFinished event;
  event.stats = StatsFromProto(finished.stats());
  event.media = MediaFromProto(finished.media());
  event.media.size_bytes = finished.size_bytes();
  for (const v1::Notice& notice : finished.notices()) {
    event.notices.push_back(NoticeFromProto(notice));
  }
  event.memory_bytes = finished.memory_bytes();
  event.state_size_bytes = finished.state_size_bytes();
  event.state_sha256 = finished.state_sha256();
  return {{}, RefOf(finished), std::move(event)};
}

WorkerReport Get(const worker::v1::JobFailed& failed) {
  return {{},
          RefOf(failed),
          JobFailed{ErrorFromProto(failed.error()), failed.error().job_is_suspect(),
                    failed.device_lost()}};
}

}  // namespace

AttachRequest ReportToProto(WorkerReport report) {
  AttachRequest message;
  std::visit([&](auto& event) { Put(report, std::move(event), message); }, report.event);
  return message;
}

std::optional<WorkerReport> ReportFromProto(AttachRequest message) {
  switch (message.message_case()) {
    case AttachRequest::kKernels:
      return Get(message.kernels());
    case AttachRequest::kModelState:
      return Get(message.model_state());
    case AttachRequest::kStepStats:
      return Get(message.step_stats());
    case AttachRequest::kProgress:
      return Get(message.progress());
    case AttachRequest::kPreview:
      return Get(*message.mutable_preview());
    case AttachRequest::kMedia:
      return Get(*message.mutable_media());
    case AttachRequest::kState:
      return Get(*message.mutable_state());
    case AttachRequest::kParked:
      return Get(message.parked());
    case AttachRequest::kFinished:
      return Get(message.finished());
    case AttachRequest::kFailed:
      return Get(message.failed());
    default:
      return std::nullopt;
  }
}

namespace {

// What the front knows of the adapters' files, which is no part of the API's spec.
void AddAdapterFiles(const std::vector<model::RequestAdapter>& adapters,
                     worker::v1::Assign& proto) {
  for (const model::RequestAdapter& adapter : adapters) {
    proto.add_adapter_paths(adapter.path);
    worker::v1::AdapterReference& reference = *proto.add_adapter_references();
    if (!adapter.reference) continue;
    reference.set_sides(adapter.reference->sides);
    reference.set_frames(adapter.reference->frames);
  }
}

void TakeAdapterFiles(const worker::v1::Assign& proto,
                      std::vector<model::RequestAdapter>& adapters) {
  const auto count = static_cast<int>(adapters.size());
  for (int i = 0; i < std::min(count, proto.adapter_paths_size()); ++i) {
    adapters[static_cast<size_t>(i)].path = proto.adapter_paths(i);
  }
  for (int i = 0; i < std::min(count, proto.adapter_references_size()); ++i) {
    const worker::v1::AdapterReference& reference = proto.adapter_references(i);
    if (reference.sides() < 1 || reference.frames() < 1) continue;
    adapters[static_cast<size_t>(i)].reference =
        model::ReferenceScale{reference.sides(), reference.frames()};
  }
}

}  // namespace

worker::v1::Assign AssignmentToProto(const Assignment& assignment) {
  worker::v1::Assign proto;
  Name(assignment.ref, &proto);
  *proto.mutable_spec() = SpecToProto(assignment.spec);
  proto.set_order_key(assignment.order_key);
  if (assignment.time_left != absl::InfiniteDuration()) {
    SetProtoDuration(*proto.mutable_time_left(), assignment.time_left);
  }
  proto.set_alone(assignment.alone);
  proto.set_trace_id(assignment.ref.trace_id);
  proto.set_state_size_bytes(assignment.state_size_bytes);
  AddAdapterFiles(assignment.spec.adapters, proto);
  return proto;
}

Assignment AssignmentFromProto(const worker::v1::Assign& proto) {
  Assignment assignment;
  assignment.ref = RefOf(proto);
  assignment.spec = SpecFromProto(proto.spec());
  assignment.order_key = proto.order_key();
  if (proto.has_time_left()) assignment.time_left = FromProtoDuration(proto.time_left());
  assignment.alone = proto.alone();
  assignment.ref.trace_id = proto.trace_id();
  assignment.state_size_bytes = proto.state_size_bytes();
  TakeAdapterFiles(proto, assignment.spec.adapters);
  return assignment;
}

}  // namespace reel
