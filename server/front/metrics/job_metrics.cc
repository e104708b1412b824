// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/job_metrics.h"

#include <algorithm>
#include <cmath>

#include "server/errors/error.h"
#include "server/front/metrics/families.h"

namespace reel::front {
namespace {

constexpr size_t kMaxTenants = 16;

}  // namespace

ExperimentMetrics::ExperimentMetrics(prometheus::Registry& registry,
                                     const std::vector<std::pair<std::string, std::string>>& arms)
    : step_ratio_(
          GaugeFamily(registry, "reel_experiment_step_ratio",
                      "So many times as long as one of the experiment's first arm a step of "
                      "this arm takes, over all shapes (estimate), and the 95 % interval "
                      "(low, high); none before an arm has enough videos.")) {
  auto& requests = CounterFamily(registry, "reel_experiment_requests_total",
                                 "Videos of an experiment's arm that ended.");
  auto& step_seconds = CounterFamily(
      registry, "reel_experiment_step_seconds_total",
      "Denoising time of an arm's finished videos; a step that several shared counts for "
      "each.");
  auto& steps = CounterFamily(registry, "reel_experiment_steps_total",
                              "Denoising steps of an arm's finished videos.");
  for (const auto& name : arms) {
    const prometheus::Labels labels = {{"experiment", name.first}, {"arm", name.second}};
    second_arms_[name.first] = name.second;  // the last of them stays
    Arm& arm = arms_[name];
    for (const char* outcome : {"ok", "cancelled", "deadline", "failed"}) {
      prometheus::Labels with_outcome = labels;
      with_outcome["outcome"] = outcome;
      arm.requests[outcome] = &requests.Add(with_outcome);
    }
    arm.step_seconds = &step_seconds.Add(labels);
    arm.steps = &steps.Add(labels);
  }
  AddShadows(registry);
}

void ExperimentMetrics::StepsCompared(const std::string& experiment, const Ratio& ratio) {
  const auto arm = second_arms_.find(experiment);
  if (arm == second_arms_.end()) return;
  const std::pair<const char*, double> bounds[] = {
      {"estimate", ratio.value}, {"low", ratio.low}, {"high", ratio.high}};
  for (const auto& [bound, value] : bounds) {
    step_ratio_.Add({{"experiment", experiment}, {"arm", arm->second}, {"bound", bound}})
        .Set(value);
  }
}

void ExperimentMetrics::AddShadows(prometheus::Registry& registry) {
  auto& ended =
      CounterFamily(registry, "reel_experiment_shadows_total",
                    "Videos of an experiment that were rendered again on the other arm when "
                    "their device had nothing to do, by what came of it.");
  auto& distance = HistogramFamily(registry, "reel_experiment_shadow_psnr_db",
                                   "How far pictures of the two arms lie apart, where they do.");
  for (const auto& [experiment, arm] : second_arms_) {
    Shadows& shadows = shadows_[experiment];
    for (const ShadowOutcome outcome : {ShadowOutcome::kIdentical, ShadowOutcome::kDiffers,
                                        ShadowOutcome::kGivenUp, ShadowOutcome::kFailed}) {
      shadows.ended[outcome] =
          &ended.Add({{"experiment", experiment}, {"outcome", ShadowOutcomeName(outcome)}});
    }
    shadows.psnr_db = &distance.Add({{"experiment", experiment}}, buckets::Decibels());
  }
}

void ExperimentMetrics::ShadowEnded(const ShadowResult& result) {
  const auto shadows = shadows_.find(result.experiment);
  if (shadows == shadows_.end()) return;
  shadows->second.ended.at(result.outcome)->Increment();
  if (result.outcome == ShadowOutcome::kDiffers) shadows->second.psnr_db->Observe(result.psnr_db);
}

StateMetrics::StateMetrics(prometheus::Registry& registry, const std::vector<std::string>& tenants)
    : damaged_(CounterFamily(registry, "reel_damaged_states_total",
                             "Kept states that could not be read as they were kept.")
                   .Add({})),
      stored_(GaugeFamily(registry, "reel_tenant_stored_bytes",
                          "Bytes of a tenant's videos and kept states, where they are limited.")),
      limits_(GaugeFamily(registry, "reel_tenant_stored_limit_bytes",
                          "Bytes that the tenant may keep (max_stored_bytes).")),
      tenants_(tenants.begin(), tenants.begin() + std::min(tenants.size(), kMaxTenants)) {
  auto& family = CounterFamily(registry, "reel_states_total",
                               "Videos that were to keep their state, by what came of it: no_room "
                               "in their tenant's bytes, too_large for state.max_bytes.");
  const std::array<const char*, kEnds> results = {"kept", "no_room", "too_large", "failed"};
  for (size_t i = 0; i < kEnds; ++i) ends_[i] = &family.Add({{"result", results[i]}});
}

void StateMetrics::Set(const QueueGauges& gauges) {
  const double more = static_cast<double>(gauges.damaged_states) - damaged_.Value();
  if (more > 0) damaged_.Increment(more);
  for (const TenantGauges& tenant : gauges.tenants) {
    const std::string name(tenant.name);
    if (!tenants_.contains(name)) continue;
    stored_.Add({{"tenant", name}}).Set(static_cast<double>(tenant.stored_bytes));
    limits_.Add({{"tenant", name}}).Set(static_cast<double>(tenant.limit_bytes));
  }
}

void ExperimentMetrics::Ended(const Video& video, const std::string& outcome) {
  const auto found = arms_.find({video.spec.kernels.experiment, video.spec.kernels.arm});
  if (found == arms_.end()) return;
  const auto counter = found->second.requests.find(outcome);
  if (counter != found->second.requests.end()) counter->second->Increment();
  if (video.state != VideoState::kSucceeded || !video.stats) return;
  found->second.step_seconds->Increment(absl::ToDoubleSeconds(video.stats->denoise));
  found->second.steps->Increment(video.spec.num_steps());
}

namespace {

using prometheus::Registry;

constexpr size_t kMaxAdapters = 32;
constexpr char kOther[] = "other";

template <typename T>
struct Figure {
  const char* name;
  const char* help;
  double (*value)(const T&);
};

// What finished videos add up to.
constexpr Figure<Video> kFinished[] = {
    {"reel_frames_total", "Frames of finished videos.",
     [](const Video& video) -> double { return video.spec.num_frames; }},
    {"reel_sound_seconds_total", "Sound of finished videos.",
     [](const Video& video) {
       return video.media.sample_rate > 0 ? absl::ToDoubleSeconds(video.media.duration) : 0;
     }},
    {"reel_output_bytes_total", "Bytes of finished videos.",
     [](const Video& video) { return static_cast<double>(video.media.size_bytes); }},
};

constexpr Figure<QueueGauges> kGauges[] = {
    {"reel_queue_depth", "Jobs that wait.",
     [](const QueueGauges& now) -> double { return now.queued; }},
    {"reel_inflight_requests", "Jobs that run.",
     [](const QueueGauges& now) -> double { return now.running; }},
    {"reel_queue_backlog_seconds",
     "Predicted device time of queued and running work, of all devices together.",
     [](const QueueGauges& now) { return now.backlog_seconds; }},
    {"reel_queue_capacity_seconds", "Backlog above which requests are refused.",
     [](const QueueGauges& now) { return now.capacity_seconds; }},
    {"reel_queue_device_capacity_seconds",
     "What each ready device adds to that: a video waits about so long at the most, if predictions "
     "hold.",
     [](const QueueGauges& now) { return now.device_capacity_seconds; }},
    {"reel_result_store_bytes", "Bytes of stored videos.",
     [](const QueueGauges& now) { return static_cast<double>(now.stored_bytes); }},
    {"reel_kept_state_bytes", "Bytes of the states of videos, in a fleet of all servers'.",
     [](const QueueGauges& now) { return static_cast<double>(now.state_bytes); }},
    {"reel_kept_states", "States of videos that others can go on from, in a fleet all servers'.",
     [](const QueueGauges& now) { return static_cast<double>(now.states); }},
    {"reel_expired_states", "Videos whose state has expired, and which are kept longer.",
     [](const QueueGauges& now) { return static_cast<double>(now.expired_states); }},
    {"reel_result_store_limit_bytes", "Bytes that may be stored.",
     [](const QueueGauges& now) { return static_cast<double>(now.stored_limit_bytes); }},
};

prometheus::Family<prometheus::Counter>& Within(Registry& registry) {
  return CounterFamily(registry, "reel_estimate_within_p90_total",
                       "Finished jobs by whether they took at most the quoted p90.");
}

const char* Outcome(const Video& video) {
  if (video.state == VideoState::kSucceeded) return "ok";
  const auto reason = ReasonOf(video.error);
  if (reason == Reason::kDeadlinePassed) return "deadline";
  return video.state == VideoState::kCancelled ? "cancelled" : "failed";
}

const char* StageOf(model::RunPart part) {
  switch (part) {
    case model::RunPart::kQueue:
      return "queue";
    case model::RunPart::kText:
      return "text_encode";
    case model::RunPart::kDenoise:
      return "denoise";
    case model::RunPart::kSound:
      return "sound";
    case model::RunPart::kDecode:
      return "decode";
    case model::RunPart::kEncode:
      return "encode";
    default:
      return "other";
  }
}

}  // namespace

JobMetrics::JobMetrics(Registry& registry, RefusalMetrics& refusals, WorkerMetrics& workers,
                       ExperimentMetrics& experiments, const std::vector<std::string>& tenants)
    : refusals_(refusals),
      workers_(workers),
      experiments_(experiments),
      states_(registry, tenants),
      cancel_duration_(HistogramFamily(registry, "reel_cancel_duration_seconds",
                                       "From the request to cancel to the free slot.")
                           .Add({}, buckets::Event())),
      restarted_(
          CounterFamily(registry, "reel_restarted_jobs_total", "Jobs that began again.").Add({})),
      preempted_(CounterFamily(registry, "reel_preemptions_total",
                               "Running jobs that were parked for another.")
                     .Add({})),
      adapter_jobs_(CounterFamily(registry, "reel_adapter_jobs_total",
                                  "Jobs that ended, by the adapters that they named.")),
      models_(registry),
      eta_error_(
          HistogramFamily(registry, "reel_eta_error_ratio",
                          "Error of the time left that a running job's watchers were told at a "
                          "fifth of the way, of finished jobs.")
              .Add({}, buckets::Ratio())),
      estimate_error_(
          HistogramFamily(
              registry, "reel_estimate_error_ratio",
              "Error of the estimate against the time that the device and the encoder took, of "
              "finished jobs; what they waited for others is left out.")
              .Add({}, buckets::Ratio())),
      within_p90_(Within(registry).Add({{"result", "within"}})),
      above_p90_(Within(registry).Add({{"result", "above"}})) {
  for (const auto& row : kFinished) {
    finished_.push_back(&CounterFamily(registry, row.name, row.help).Add({}));
  }
  for (const auto& row : kGauges) {
    gauges_.push_back(&GaugeFamily(registry, row.name, row.help).Add({}));
  }
  auto& duration = HistogramFamily(registry, "reel_request_duration_seconds",
                                   "From acceptance to the end of a job.");
  for (const bool detached : {false, true}) {
    request_duration_[detached] = &duration.Add({{"mode", ModeName(detached)}}, buckets::Video());
  }
  auto& queue = HistogramFamily(registry, "reel_queue_duration_seconds",
                                "From acceptance to the first step of a job.");
  queue_duration_[Priority::kLow] = &queue.Add({{"priority", "low"}}, buckets::Video());
  queue_duration_[Priority::kNormal] = &queue.Add({{"priority", "normal"}}, buckets::Video());
  queue_duration_[Priority::kHigh] = &queue.Add({{"priority", "high"}}, buckets::Video());
  auto& stages = HistogramFamily(
      registry, "reel_stage_duration_seconds",
      "Host time of a finished job's stages, which sum to the whole of it; not device time.");
  for (const char* stage :
       {"queue", "text_encode", "denoise", "sound", "decode", "encode", "other"}) {
    stage_duration_[stage] = &stages.Add({{"stage", stage}}, buckets::Stage());
  }
  auto& seconds =
      CounterFamily(registry, "reel_tenant_gpu_seconds_total", "Device time charged to a tenant.");
  tenant_seconds_[kOther] = &seconds.Add({{"tenant", kOther}});
  for (const std::string& tenant : tenants) {
    if (tenant_seconds_.size() > kMaxTenants) break;
    tenant_seconds_[tenant] = &seconds.Add({{"tenant", tenant}});
  }
}

void JobMetrics::JobEnded(const Video& video, bool detached) {
  const std::string& profile = video.spec.kernels.profile;
  refusals_.Ended(detached, profile.empty() ? "auto" : profile, Outcome(video));
  experiments_.Ended(video, Outcome(video));
  request_duration_[detached]->Observe(absl::ToDoubleSeconds(video.end_time - video.create_time));
  if (const auto reason = ReasonOf(video.error)) workers_.JobFailed(video.worker, *reason);
  if (video.stats) {
    const auto tenant = tenant_seconds_.find(video.tenant);
    (tenant != tenant_seconds_.end() ? tenant : tenant_seconds_.find(kOther))
        ->second->Increment(std::max(0.0, video.stats->device_seconds));
  }
  CountAdapters(video.spec);
  if (video.state != VideoState::kSucceeded) return;
  for (size_t i = 0; i < finished_.size(); ++i) finished_[i]->Increment(kFinished[i].value(video));
  if (video.stats) CountStages(*video.stats);
}

void JobMetrics::CountAdapters(const model::GenerationSpec& spec) {
  for (const model::RequestAdapter& adapter : spec.adapters) {
    const bool has_room = adapters_.size() < kMaxAdapters;
    if (has_room) adapters_.insert(adapter.name);
    const std::string& label = adapters_.contains(adapter.name) ? adapter.name : kOther;
    adapter_jobs_.Add({{"adapter", label}}).Increment();
  }
}

void JobMetrics::CountStages(const model::RunStats& stats) {
  std::map<std::string, absl::Duration> stages;
  for (const model::PartTime& part : stats.parts) stages[StageOf(part.part)] += part.time;
  for (const auto& [stage, histogram] : stage_duration_) {
    histogram->Observe(absl::ToDoubleSeconds(stages[stage]));
  }
}

void JobMetrics::JobStarted(const Video& video, absl::Duration queued) {
  queue_duration_[video.priority]->Observe(absl::ToDoubleSeconds(queued));
}

void JobMetrics::Gauges(const QueueGauges& gauges) {
  for (size_t i = 0; i < gauges_.size(); ++i) gauges_[i]->Set(kGauges[i].value(gauges));
  models_.Set(gauges.models);
  states_.Set(gauges);
}

void JobMetrics::TimeLeftChecked(absl::Duration told, absl::Duration actual) {
  if (actual <= absl::ZeroDuration()) return;
  eta_error_.Observe(std::abs(absl::FDivDuration(told - actual, actual)));
}

void JobMetrics::EstimateChecked(absl::Duration estimated, absl::Duration actual, bool within_p90) {
  (within_p90 ? within_p90_ : above_p90_).Increment();
  if (actual <= absl::ZeroDuration()) return;
  estimate_error_.Observe(std::abs(absl::FDivDuration(estimated - actual, actual)));
}

TraceMetrics::TraceMetrics(prometheus::Registry& registry) {
  auto& family =
      CounterFamily(registry, "reel_traces_total",
                    "Traces of ended videos: sent to the collector; dropped since too many "
                    "waited (full), refused by it, or not sent before the server's end "
                    "(lost).");
  const std::array<const char*, kEnds> results = {"sent", "full", "refused", "lost"};
  for (size_t i = 0; i < kEnds; ++i) ends_[i] = &family.Add({{"result", results[i]}});
  refused_spans_ = &CounterFamily(registry, "reel_trace_refused_spans_total",
                                  "Spans that the collector left out of traces that it took.")
                        .Add({});
}

}  // namespace reel::front
