// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/kernel_metrics.h"

#include <algorithm>
#include <utility>

#include "server/front/metrics/families.h"

namespace reel::front {

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
          kMaxKernelSeries, dropped) {}

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
  }
  if (sample.stage == model::Stage::kDenoise && !sample.kernels.empty()) {
    sampled_.Get({{"device", worker}}).Increment();
  }
}

}  // namespace reel::front
