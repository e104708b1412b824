// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/sharing_metrics.h"

namespace reel::front {
namespace {

using prometheus::Registry;

// Whether its videos shared it, and what each would have taken by itself is known.
bool TellsOfSharing(const StepSample& sample) {
  return sample.jobs.size() > 1 && sample.apart > absl::ZeroDuration();
}

struct StepFigure {
  const char* name;
  const char* help;
  double (*value)(const StepSample&);  // not above 0: the step has none
};

constexpr StepFigure kStepFigures[] = {
    {"reel_shared_step_seconds_total",
     "Time of steps that videos shared, of sizes that were stepped alone as well.",
     [](const StepSample& sample) {
       return TellsOfSharing(sample) ? absl::ToDoubleSeconds(sample.duration) : 0;
     }},
    {"reel_shared_step_apart_seconds_total",
     "What the same videos would have taken each by itself, by their sizes' steps alone. Over the "
     "time of the shared steps it is what sharing gains.",
     [](const StepSample& sample) {
       return TellsOfSharing(sample) ? absl::ToDoubleSeconds(sample.apart) : 0;
     }},
    {"reel_step_left_out_jobs_total",
     "Videos that fitted into a step and were kept apart, since sharing gains too little on the "
     "device; counted at each step.",
     [](const StepSample& sample) -> double { return sample.left_out; }},
    {"reel_weights_streamed_bytes_total",
     "Of weights that do not stay on the device, copied to it for steps.",
     [](const StepSample& sample) { return static_cast<double>(sample.streamed_bytes); }},
};

}  // namespace

SharingMetrics::SharingMetrics(Registry& registry,
                               prometheus::Family<prometheus::Counter>& dropped) {
  for (const StepFigure& row : kStepFigures) {
    figures_.emplace_back(CounterFamily(registry, row.name, row.help), kMostStepSeries, dropped);
  }
}

void SharingMetrics::Stepped(const std::string& worker, const StepSample& sample) {
  for (size_t i = 0; i < figures_.size(); ++i) {
    const double value = kStepFigures[i].value(sample);
    if (value <= 0) continue;
    figures_[i].Get(LabelsOfStep(worker, sample)).Increment(value);
  }
}

}  // namespace reel::front
