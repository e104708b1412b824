// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/sharing_metrics.h"

namespace reel::front {
namespace {

using prometheus::Registry;

constexpr size_t kMostSeries = 128;  // devices times models times profiles

auto& SharingCounters(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

}  // namespace

SharingMetrics::SharingMetrics(Registry& registry, prometheus::Family<prometheus::Counter>& dropped)
    : shared_(SharingCounters(registry, "reel_shared_step_seconds_total",
                              "Time of steps that videos shared, of sizes that were stepped alone "
                              "as well."),
              kMostSeries, dropped.Add({{"family", "reel_shared_step_seconds_total"}})),
      apart_(SharingCounters(registry, "reel_shared_step_apart_seconds_total",
                             "What the same videos would have taken each by itself, by their "
                             "sizes' steps alone. Over the time of the shared steps it is what "
                             "sharing gains."),
             kMostSeries, dropped.Add({{"family", "reel_shared_step_apart_seconds_total"}})),
      left_out_(SharingCounters(registry, "reel_step_left_out_jobs_total",
                                "Videos that fitted into a step and were kept apart, since "
                                "sharing gains too little on the device; counted at each step."),
                kMostSeries, dropped.Add({{"family", "reel_step_left_out_jobs_total"}})) {}

void SharingMetrics::Stepped(const std::string& worker, const StepSample& sample) {
  const bool tells = sample.jobs.size() > 1 && sample.apart > absl::ZeroDuration();
  if (!tells && sample.left_out <= 0) return;
  // A plan's name begins with its profile; which variants a caller forces is no label.
  const prometheus::Labels labels = {{"device", worker},
                                     {"model", sample.model},
                                     {"profile", sample.plan.substr(0, sample.plan.find('+'))}};
  if (tells) {
    shared_.Get(labels).Increment(absl::ToDoubleSeconds(sample.duration));
    apart_.Get(labels).Increment(absl::ToDoubleSeconds(sample.apart));
  }
  if (sample.left_out > 0) left_out_.Get(labels).Increment(sample.left_out);
}

}  // namespace reel::front
