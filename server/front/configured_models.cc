// SPDX-License-Identifier: Apache-2.0
#include "server/front/configured_models.h"

#include <algorithm>

#include "server/convert/worker_convert.h"

namespace reel::front {
namespace {

std::vector<model::FixedAdapter> AdaptersOf(const config::v1::Model& model,
                                            const config::v1::ServerConfig& config) {
  std::vector<model::FixedAdapter> adapters;
  for (const config::v1::ModelAdapter& wanted : model.adapters()) {
    for (const config::v1::Adapter& known : config.adapters()) {
      if (known.name() != wanted.name()) continue;
      adapters.push_back({.name = known.name(),
                          .path = known.file(),
                          .scale = wanted.has_scale() ? wanted.scale() : 1,
                          .sha256 = known.sha256()});
    }
  }
  return adapters;
}

}  // namespace

model::LoadOptions LoadOptionsOf(const config::v1::Model& model,
                                 const config::v1::ServerConfig& config) {
  model::LoadOptions options{model.name(), model.path(), model.dtype(), {}};
  options.manifest_file = model.manifest_file();
  options.text_folder = model.text_folder();
  options.parts = PartsFromProto(model.parts());
  options.adapters = AdaptersOf(model, config);
  options.adapter_ranks = model.adapter_ranks();
  options.warm_up = WarmUpFromProto(model.warm_up());
  options.on_demand = model.on_demand();
  options.offload = OffloadFromProto(model.offload());
  options.weights_form = model::WeightsFormNamed(model.weights_form());
  if (model.has_random_weights()) options.random_weights = model.random_weights().seed();
  if (model.has_test_card()) options.test_card = TestCardFromProto(model.test_card());
  return options;
}

std::vector<ModelSource> SourcesOf(const config::v1::ServerConfig& config) {
  std::vector<ModelSource> sources;
  for (const config::v1::Model& model : config.models()) {
    ModelSource& source = sources.emplace_back(ModelSource{LoadOptionsOf(model, config), {}});
    for (const config::v1::Worker& worker : config.workers()) {
      const auto& models = worker.models();
      if (std::find(models.begin(), models.end(), model.name()) == models.end()) continue;
      source.workers.push_back(worker.name());
    }
  }
  return sources;
}

std::vector<KernelProfileOptions> ProfilesOf(const config::v1::ServerConfig& config) {
  std::vector<KernelProfileOptions> profiles;
  for (const config::v1::KernelProfile& profile : config.kernel_profiles()) {
    KernelProfileOptions out{
        profile.name(), profile.base(), {profile.variants().begin(), profile.variants().end()}};
    const auto base = std::find_if(profiles.begin(), profiles.end(),
                                   [&out](const auto& before) { return before.name == out.base; });
    if (base != profiles.end()) {
      out.base = base->base;
      out.variants.insert(base->variants.begin(), base->variants.end());  // its own win
    }
    profiles.push_back(std::move(out));
  }
  return profiles;
}

std::vector<ExperimentArm> ArmsOf(const config::v1::Experiment& experiment) {
  double weights = 0;
  for (const config::v1::Arm& arm : experiment.arms()) weights += arm.weight();
  std::vector<ExperimentArm> arms;
  for (const config::v1::Arm& arm : experiment.arms()) {
    arms.push_back({arm.name(), arm.profile(), arm.weight() / weights});
  }
  return arms;
}

}  // namespace reel::front
