// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/experiment_metrics.h"

#include "server/front/metrics/buckets.h"

namespace reel::front {
namespace {

prometheus::Family<prometheus::Counter>& ArmFamily(prometheus::Registry& registry, const char* name,
                                                   const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

}  // namespace

ExperimentMetrics::ExperimentMetrics(prometheus::Registry& registry,
                                     const std::vector<std::pair<std::string, std::string>>& arms)
    : step_ratio_(prometheus::BuildGauge()
                      .Name("reel_experiment_step_ratio")
                      .Help("So many times as long as one of the experiment's first arm a step of "
                            "this arm takes, over all shapes (estimate), and the 95 % interval "
                            "(low, high); none before an arm has enough videos.")
                      .Register(registry)) {
  auto& requests = ArmFamily(registry, "reel_experiment_requests_total",
                             "Videos of an experiment's arm that ended.");
  auto& step_seconds =
      ArmFamily(registry, "reel_experiment_step_seconds_total",
                "Denoising time of an arm's finished videos; a step that several shared counts for "
                "each.");
  auto& steps = ArmFamily(registry, "reel_experiment_steps_total",
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
  auto& ended = ArmFamily(registry, "reel_experiment_shadows_total",
                          "Videos of an experiment that were rendered again on the other arm when "
                          "their device had nothing to do, by what came of it.");
  auto& distance = prometheus::BuildHistogram()
                       .Name("reel_experiment_shadow_psnr_db")
                       .Help("How far pictures of the two arms lie apart, where they do.")
                       .Register(registry);
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

void ExperimentMetrics::Ended(const Video& video, const std::string& outcome) {
  const auto found = arms_.find({video.spec.kernels.experiment, video.spec.kernels.arm});
  if (found == arms_.end()) return;
  const auto counter = found->second.requests.find(outcome);
  if (counter != found->second.requests.end()) counter->second->Increment();
  if (video.state != VideoState::kSucceeded || !video.stats) return;
  found->second.step_seconds->Increment(absl::ToDoubleSeconds(video.stats->denoise));
  found->second.steps->Increment(video.spec.num_steps());
}

}  // namespace reel::front
