// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/worker_metrics.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "server/front/metrics/families.h"

namespace reel::front {
namespace {

using prometheus::Labels;
using prometheus::Registry;

constexpr size_t kMaxDevices = 64;
constexpr std::array kOutReasons = {OutReason::kDevice, OutReason::kFaults, OutReason::kNoModel};

std::string VersionOf(const WorkerInfo& worker, std::string_view name) {
  for (const auto& [key, value] : worker.versions) {
    if (key == name) return value;
  }
  return "";
}

}  // namespace

WorkerMetrics::WorkerMetrics(Registry& registry, prometheus::Family<prometheus::Counter>& dropped)
    : info_(GaugeFamily(registry, "reel_worker_info", "What a device is; always 1.")),
      up_(GaugeFamily(registry, "reel_worker_up", "1 while the device takes work."), kMaxDevices,
          dropped),
      out_(GaugeFamily(
               registry, "reel_worker_out",
               "1 while the device is out of service for this reason, until an operator acts."),
           kOutReasons.size() * kMaxDevices, dropped),
      memory_(GaugeFamily(
                  registry, "reel_gpu_memory_bytes",
                  "Of a device's memory all (total) and what is taken by everybody on it (used), "
                  "by the worker's allocator (reserved) and tensors (allocated), the most of "
                  "those since it started (peak), and what of them it would give up (kept)."),
              6 * kMaxDevices, dropped),
      adapter_bytes_(GaugeFamily(registry, "reel_adapter_device_bytes",
                                 "Of adapters that the models of a device have at hand there for "
                                 "requests, beside their room in the layers."),
                     kMaxDevices, dropped),
      host_bytes_(GaugeFamily(registry, "reel_weights_host_bytes",
                              "Of weights that the models of a device hold in host memory."),
                  kMaxDevices, dropped),
      copy_speed_(GaugeFamily(registry, "reel_gpu_copy_bytes_per_second",
                              "From page-locked host memory to the device, measured when its "
                              "worker started; none where that failed."),
                  kMaxDevices, dropped),
      restarts_(CounterFamily(registry, "reel_worker_restarts_total", "Workers lost, by cause."),
                8 * kMaxDevices, dropped),
      errors_(CounterFamily(registry, "reel_gpu_errors_total", "Faults of devices, by kind."),
              8 * kMaxDevices, dropped),
      busy_(CounterFamily(registry, "reel_gpu_busy_seconds_total",
                          "Time that texts, steps and decodes took."),
            kMaxDevices, dropped),
      energy_(
          CounterFamily(registry, "reel_gpu_energy_joules_total",
                        "Energy that the device took while its worker had it, busy or not, as its "
                        "driver tells; none where it does not."),
          kMaxDevices, dropped),
      loads_(CounterFamily(registry, "reel_model_loads_total", "Models that came to serve."),
             kMaxDevices, dropped),
      put_outs_(CounterFamily(registry, "reel_model_put_outs_total",
                              "Models on demand that made way for another one."),
                kMaxDevices, dropped),
      steps_(HistogramFamily(registry, "reel_denoise_step_duration_seconds", "Denoising steps."),
             kMaxDevices, dropped),
      kernels_(registry, dropped),
      sharing_(registry, dropped),
      warm_ups_(HistogramFamily(registry, "reel_warm_up_duration_seconds",
                                "Videos that models made before they serve."),
                2 * kMaxDevices, dropped),
      rows_(HistogramFamily(registry, "reel_step_batch_rows", "Rows packed into a step.")
                .Add({}, buckets::Rows())),
      jobs_(HistogramFamily(registry, "reel_step_batch_jobs", "Jobs that shared a step.")
                .Add({}, buckets::Jobs())),
      prompt_hits_(CounterFamily(registry, "reel_prompt_cache_hits_total",
                                 "Texts whose encoding a worker remembered.")
                       .Add({})),
      prompt_misses_(
          CounterFamily(registry, "reel_prompt_cache_misses_total", "Texts that a worker encoded.")
              .Add({})),
      adapters_(registry, dropped) {}

void WorkerMetrics::AddSeries(const std::string& worker) {
  for (const char* cause : {"exit", "killed", "sticky", "device", "hang", "heartbeat", "oom"}) {
    restarts_.Get({{"device", worker}, {"reason", cause}});
  }
  for (const char* kind : {"oom", "sticky", "hang", "nan", "lost"}) {
    errors_.Get({{"device", worker}, {"kind", kind}});
  }
  adapter_bytes_.Get({{"device", worker}});
  host_bytes_.Get({{"device", worker}});
  busy_.Get({{"device", worker}});
  kernels_.AddSeries(worker);
  loads_.Get({{"device", worker}});
  put_outs_.Get({{"device", worker}});
  steps_.Get({{"device", worker}}, buckets::Step());
}

void WorkerMetrics::SetInfo(const WorkerInfo& worker) {
  const Labels labels = {{"device", worker.name},
                         {"gpu", worker.device},
                         {"arch", std::to_string(worker.compute_capability)},
                         {"torch", VersionOf(worker, "torch")},
                         {"cuda", VersionOf(worker, "cuda")}};
  MutexLock lock(mutex_);
  prometheus::Gauge*& known = infos_[worker.name];
  prometheus::Gauge& now = info_.Add(labels);
  if (known != nullptr && known != &now) info_.Remove(known);  // another build, another device
  known = &now;
  now.Set(1);
}

void WorkerMetrics::Changed(const WorkerInfo& worker) {
  AddSeries(worker.name);
  SetInfo(worker);
  up_.Get({{"device", worker.name}}).Set(worker.state == WorkerState::kReady ? 1 : 0);
  for (const OutReason reason : kOutReasons) {
    out_.Get({{"device", worker.name}, {"reason", OutReasonName(reason)}})
        .Set(worker.out == reason ? 1 : 0);
  }
  if (worker.copy_bytes_per_second > 0) {
    copy_speed_.Get({{"device", worker.name}})
        .Set(static_cast<double>(worker.copy_bytes_per_second));
  }
  const model::DeviceMemory& memory = worker.memory;
  if (memory.total <= 0) return;
  const std::pair<const char*, int64_t> kinds[] = {
      {"total", memory.total},      {"used", memory.held}, {"reserved", memory.reserved},
      {"allocated", memory.in_use}, {"peak", memory.most}, {"kept", memory.kept}};
  for (const auto& [kind, bytes] : kinds) {
    memory_.Get({{"device", worker.name}, {"kind", kind}}).Set(static_cast<double>(bytes));
  }
}

void WorkerMetrics::Lost(const std::string& worker, LossCause cause) {
  restarts_.Get({{"device", worker}, {"reason", LossCauseName(cause)}}).Increment();
  const char* kind = cause == LossCause::kSticky ? "sticky"
                     : cause == LossCause::kHang ? "hang"
                                                 : "lost";
  errors_.Get({{"device", worker}, {"kind", kind}}).Increment();
  Holds(worker, {});
}

void WorkerMetrics::Stepped(const std::string& worker, const StepSample& sample) {
  const double seconds = absl::ToDoubleSeconds(sample.duration);
  busy_.Get({{"device", worker}}).Increment(std::max(0.0, seconds));
  kernels_.Stepped(worker, sample);
  if (sample.stage != model::Stage::kDenoise) return;
  sharing_.Stepped(worker, sample);
  steps_.Get({{"device", worker}}, buckets::Step()).Observe(seconds);
  rows_.Observe(static_cast<double>(sample.rows));
  jobs_.Observe(static_cast<double>(sample.jobs.size()));
}

void WorkerMetrics::WarmedUp(const std::string& worker, const reel::WarmedUp& video) {
  const char* outcome = video.status.ok() ? "ok" : "failed";
  warm_ups_.Get({{"device", worker}, {"outcome", outcome}}, buckets::Stage())
      .Observe(absl::ToDoubleSeconds(video.took));
}

void WorkerMetrics::PromptsRead(const model::PromptCounts& prompts) {
  prompt_hits_.Increment(static_cast<double>(prompts.remembered));
  prompt_misses_.Increment(static_cast<double>(prompts.encoded));
}

void WorkerMetrics::EnergyTaken(const std::string& worker, double joules) {
  energy_.Get({{"device", worker}}).Increment(std::max(0.0, joules));
}

void WorkerMetrics::Holds(const std::string& worker, const HeldBytes& held) {
  host_bytes_.Get({{"device", worker}}).Set(static_cast<double>(held.host_weights));
  adapter_bytes_.Get({{"device", worker}}).Set(static_cast<double>(held.adapters));
}

void WorkerMetrics::JobFailed(const std::string& worker, Reason reason) {
  if (worker.empty()) return;
  if (reason == Reason::kOutOfDeviceMemory) {
    errors_.Get({{"device", worker}, {"kind", "oom"}}).Increment();
  } else if (reason == Reason::kNumericalFault) {
    errors_.Get({{"device", worker}, {"kind", "nan"}}).Increment();
  }
}

namespace {

constexpr size_t kHashDigits = 12;

// Of its calls, as its worker holds it; a model without operators has none.
std::string_view TypeOf(const model::ModelCard& card) {
  return card.calls.empty() ? std::string_view() : card.calls.front().dtype;
}

}  // namespace

ModelMetrics::ModelMetrics(prometheus::Registry& registry)
    : info_(GaugeFamily(
          registry, "reel_model_info",
          "What a model is: the first digits of its weights' SHA-256, and the type that "
          "they are held in; always 1.")),
      ready_(
          GaugeFamily(registry, "reel_model_ready", "1 while some device has the model loaded.")),
      age_(GaugeFamily(
          registry, "reel_queue_age_seconds",
          "How long the video that has waited longest for the model has waited; 0 while "
          "none waits.")) {}

void ModelMetrics::SetInfo(const ModelGauges& model, Series& series) {
  if (model.card == nullptr) return;
  const std::string_view dtype = TypeOf(*model.card);
  const std::string_view weights =
      std::string_view(model.card->weights_sha256).substr(0, kHashDigits);
  if (series.info != nullptr && series.weights == weights && series.dtype == dtype) return;
  if (series.info != nullptr) info_.Remove(series.info);
  series.weights = weights;
  series.dtype = dtype;
  series.info = &info_.Add(
      {{"model", std::string(model.name)}, {"weights", series.weights}, {"dtype", series.dtype}});
  series.info->Set(1);
}

void ModelMetrics::Remove(const Series& series) {
  if (series.info != nullptr) info_.Remove(series.info);
  ready_.Remove(series.ready);
  age_.Remove(series.age);
}

void ModelMetrics::Set(const std::vector<ModelGauges>& models) {
  const MutexLock lock(mutex_);
  std::set<std::string_view> served;
  for (const ModelGauges& model : models) {
    served.insert(model.name);
    auto found = series_.find(model.name);
    if (found == series_.end()) {
      const std::string name(model.name);
      found = series_.emplace(name, Series()).first;
      found->second.ready = &ready_.Add({{"model", name}});
      found->second.age = &age_.Add({{"model", name}});
    }
    SetInfo(model, found->second);
    found->second.ready->Set(model.ready ? 1 : 0);
    found->second.age->Set(model.oldest_wait_seconds);
  }
  for (auto series = series_.begin(); series != series_.end();) {
    if (served.contains(series->first)) {
      ++series;
      continue;
    }
    Remove(series->second);
    series = series_.erase(series);
  }
}

absl::Duration KernelSeconds::TakeWaiting(const std::string& worker, const StepSample& sample) {
  const MutexLock lock(mutex_);
  Kind kind{worker, sample.model, sample.plan, sample.stage};
  if (waiting_.size() >= kMostKinds && !waiting_.contains(kind)) std::get<2>(kind).clear();
  absl::Duration& waiting = waiting_[kind];
  waiting += std::max(sample.duration, absl::ZeroDuration());
  return sample.kernels.empty() ? absl::ZeroDuration()
                                : std::exchange(waiting, absl::ZeroDuration());
}

std::vector<OperatorSeconds> KernelSeconds::Take(const std::string& worker,
                                                 const StepSample& sample) {
  const absl::Duration all = TakeWaiting(worker, sample);
  double sum = 0;
  for (const kernels::VariantTime& time : sample.kernels) {
    sum += static_cast<double>(time.total_ns) * 1e-9;
  }
  // A device may say more of its operators than the host of the piece.
  const double took = std::max(absl::ToDoubleSeconds(sample.duration), sum);
  if (all <= absl::ZeroDuration() || took <= 0) return {};
  const double scale = absl::ToDoubleSeconds(all) / took;
  std::vector<OperatorSeconds> seconds;
  for (const kernels::VariantTime& time : sample.kernels) {
    seconds.push_back({time.op, time.variant, scale * static_cast<double>(time.total_ns) * 1e-9});
  }
  seconds.push_back({"gaps", "", scale * (took - sum)});
  return seconds;
}

namespace {

using prometheus::Registry;

constexpr size_t kMostDevices = 64;
constexpr size_t kMaxKernelSeries = 60;  // operators times variants
constexpr size_t kStages = 4;

const char* StageName(model::Stage stage) {
  switch (stage) {
    case model::Stage::kTextEncode:
      return "text_encode";
    case model::Stage::kDenoise:
      return "denoise";
    case model::Stage::kSound:
      return "sound";
    case model::Stage::kDecode:
      return "decode";
    default:
      return "other";
  }
}

}  // namespace

KernelMetrics::KernelMetrics(Registry& registry, prometheus::Family<prometheus::Counter>& dropped)
    : sampled_(CounterFamily(registry, "reel_kernel_sampled_steps_total",
                             "Steps whose operators were timed."),
               kMostDevices, dropped),
      estimated_(CounterFamily(
                     registry, "reel_kernel_estimated_seconds_total",
                     "Time of an operator in all text encodings, steps and decodes, estimated from "
                     "those that are timed; they sum to the busy time. Operator \"gaps\": the time "
                     "between operators."),
                 kStages * (kMaxKernelSeries + 1), dropped),
      kernels_(
          HistogramFamily(
              registry, "reel_kernel_duration_seconds",
              "Mean of an operator's calls within a text encoding, step or decode that is timed."),
          kMaxKernelSeries, dropped),
      stalls_(CounterFamily(registry, "reel_weights_stall_seconds_total",
                            "Time that denoising steps waited for weights that do not stay on the "
                            "device, estimated from those that are timed."),
              kMostStepSeries, dropped) {}

void KernelMetrics::AddSeries(const std::string& worker) { sampled_.Get({{"device", worker}}); }

void KernelMetrics::Stepped(const std::string& worker, const StepSample& sample) {
  for (const kernels::VariantTime& time : sample.kernels) {
    if (time.calls <= 0) continue;
    kernels_.Get({{"op", time.op}, {"variant", time.variant}}, buckets::Kernel())
        .Observe(static_cast<double>(time.total_ns) * 1e-9 / static_cast<double>(time.calls));
  }
  for (const OperatorSeconds& one : seconds_.Take(worker, sample)) {
    estimated_.Get({{"op", one.op}, {"variant", one.variant}, {"stage", StageName(sample.stage)}})
        .Increment(one.seconds);
    if (one.op == model::kWeightsOp && sample.stage == model::Stage::kDenoise) {
      stalls_.Get(LabelsOfStep(worker, sample)).Increment(one.seconds);
    }
  }
  if (sample.stage == model::Stage::kDenoise && !sample.kernels.empty()) {
    sampled_.Get({{"device", worker}}).Increment();
  }
}

}  // namespace reel::front
