// SPDX-License-Identifier: Apache-2.0
#include "server/front/configured_models.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/adapter_part.h"
#include "model/adapters/adapter_file.h"
#include "model/weights/manifest.h"
#include "server/convert/worker_convert.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// Whether requests may name it: one of its models has room.
bool IsOffered(const config::v1::Adapter& adapter, const config::v1::ServerConfig& config) {
  const std::set<std::string> models = {adapter.models().begin(), adapter.models().end()};
  for (const config::v1::Model& model : config.models()) {
    if (model.adapter_ranks() > 0 && (models.empty() || models.contains(model.name()))) return true;
  }
  return false;
}

std::vector<std::string> PartsOf(const model::AdapterFile& file) {
  std::set<model::AdapterPart> changed;
  for (const model::AdapterPair& pair : file.pairs()) {
    changed.insert(pair.stem.is_shared ? model::AdapterPart::kConnectors
                                       : model::AdapterPartOfLayer(pair.stem.layer));
  }
  std::vector<std::string> parts;
  for (const model::AdapterPart part : changed) parts.emplace_back(model::NameOf(part));
  return parts;
}

}  // namespace

absl::StatusOr<std::vector<RegisteredAdapter>> AdapterRegistry::Read(
    const config::v1::ServerConfig& config) {
  std::vector<RegisteredAdapter> registered;
  for (const config::v1::Adapter& adapter : config.adapters()) {
    if (!IsOffered(adapter, config)) continue;
    absl::StatusOr<model::AdapterOffer> offer = ReadFile(adapter.file());
    const auto refuse = [&](absl::string_view why) {
      return absl::FailedPreconditionError(absl::StrCat("adapters: '", adapter.name(), "': ", why));
    };
    if (!offer.ok()) return refuse(offer.status().message());
    if (!adapter.sha256().empty() && adapter.sha256() != offer->sha256) {
      return refuse(absl::StrCat("its SHA-256 is ", offer->sha256, ", not ", adapter.sha256()));
    }
    offer->name = adapter.name();
    offer->max_scale = adapter.max_scale();
    offer->default_scale = adapter.has_default_scale() ? adapter.default_scale() : 1;
    offer->description = adapter.description();
    offer->tenants = {adapter.tenants().begin(), adapter.tenants().end()};
    registered.push_back({*std::move(offer), {adapter.models().begin(), adapter.models().end()}});
  }
  return registered;
}

absl::StatusOr<model::AdapterOffer> AdapterRegistry::ReadFile(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return absl::NotFoundError(strerror(errno));
  const Mark mark = {info.st_dev, info.st_ino, info.st_size,
                     info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
  const auto known = known_.find(path);
  if (known != known_.end() && known->second.mark == mark) return known->second.offer;
  REEL_ASSIGN_OR_RETURN(const model::AdapterFile file, model::AdapterFile::Open(path));
  const model::AdapterOffer offer = {.name = "",
                                     .sha256 = model::SumOf(file.file().mapped()),
                                     .path = path,
                                     .rank = file.rank(),
                                     .bytes = mark.bytes,
                                     .reference = file.reference(),
                                     .parts = PartsOf(file)};
  known_[path] = {mark, offer};
  return offer;
}

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
  options.text_form = model::WeightsFormNamed(model.text_form());
  options.decoder = model.decoder();
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

void ReadModelsAgain(const AppOptions& options, AdapterRegistry& adapters, Dispatcher& jobs) {
  if (options.read_again == nullptr || options.config.fleet().gateway()) return;
  const LoadedConfig loaded = options.read_again();
  for (const std::string& problem : loaded.problems) {
    Log(LogLevel::kError, "the configuration is invalid; the models stay as they are",
        {{"error", problem}});
  }
  if (!loaded.problems.empty()) return;
  auto registered = adapters.Read(loaded.config);
  if (!registered.ok()) {
    return Log(LogLevel::kError, "an adapter cannot be used; models and adapters stay as they are",
               {{"error", registered.status()}});
  }
  Log(LogLevel::kInfo,
      "read the models and adapters of the configuration; other changes need a restart",
      {{"adapters", static_cast<int64_t>(registered->size())}});
  jobs.SetAdapters(*std::move(registered));
  jobs.SetModels(SourcesOf(loaded.config));
}

}  // namespace reel::front
