// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "kernels/dispatch/device_name.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "model/model_part.h"
#include "model/request_adapter.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/config_checks.h"
#include "server/front/config/default_config.h"
#include "server/front/config/field_rules.h"

namespace reel::front {
namespace {

using config::v1::ServerConfig;
using Names = std::vector<std::string>;

constexpr int kMaxWarmUps = 16;

void CheckTestCard(const std::string& at, const config::v1::Model& model,
                   ConfigFindings& findings) {
  const worker::v1::TestCard& card = model.test_card();
  for (int i = 0; i < card.faults_size(); ++i) {
    findings.Problem(
        absl::StrCat(at, "test_card.faults[", i, "].kind"),
        NotOneOf(card.faults(i).kind(), {"hang", "exit", "nan", "oom", "sticky", "lost"}));
  }
  const std::pair<const char*, bool> of_weights[] = {
      {"dtype", !model.dtype().empty()},
      {"manifest_file", !model.manifest_file().empty()},
      {"text_folder", !model.text_folder().empty()},
      {"random_weights", model.has_random_weights()},
      {"parts", model.parts_size() > 0},
      {"offload", model.has_offload()},
      {"weights_form", !model.weights_form().empty()},
      {"text_form", !model.text_form().empty()},
      {"decoder", !model.decoder().empty()}};
  for (const auto& [field, is_set] : of_weights) {
    if (is_set) findings.Problem(at + field, "the test card has no weights; leave it out");
  }
}

// How large a video may be is the model's to say, when it is loaded.
void CheckWarmUp(const std::string& at, const worker::v1::WarmUp& warm_up,
                 ConfigFindings& findings) {
  if (warm_up.off() && warm_up.sizes_size() > 0) {
    findings.Problem(at + "warm_up", "has sizes and is off; leave one of them out");
  }
  if (warm_up.sizes_size() > kMaxWarmUps) {
    findings.Problem(at + "warm_up.sizes",
                     absl::StrCat(warm_up.sizes_size(), " are too many: at most ", kMaxWarmUps));
  }
}

void CheckParts(const std::string& at, const config::v1::Model& model, ConfigFindings& findings) {
  std::set<std::string> named;
  for (int i = 0; i < model.parts_size(); ++i) {
    const worker::v1::PartFile& file = model.parts(i);
    const std::string key = absl::StrCat(at, "parts[", i, "]");
    if (!model::PartNamed(file.part()).has_value()) {
      findings.Problem(key + ".part",
                       absl::StrCat("unknown part \"", file.part(), "\": ", model::PartNames()));
    } else if (!named.insert(file.part()).second) {
      findings.Problem(key + ".part", absl::StrCat("two files bring \"", file.part(), "\""));
    }
    if (file.path().empty()) findings.Problem(key + ".path", "is missing");
  }
  if (model.has_path() && model.has_random_weights() && model.parts_size() > 0) {
    findings.Problem(at + "parts", "random weights read no files; leave out one of the two");
  }
}

void CheckModel(int index, const config::v1::Model& model, ConfigFindings& findings) {
  const std::string at = absl::StrCat("models[", index, "].");
  CheckParts(at, model, findings);
  CheckWarmUp(at, model.warm_up(), findings);
  if (const std::string& place = model.offload().text(); !place.empty()) {
    findings.Problem(at + "offload.text", NotOneOf(place, {"device", "host"}));
  }
  if (model.has_test_card()) {
    CheckTestCard(at, model, findings);
  } else if (model.path().empty()) {
    findings.Problem(absl::StrCat("models[", index, "]"), "needs either path or test_card");
  } else if (model.has_random_weights() && !model.manifest_file().empty()) {
    findings.Problem(at + "manifest_file",
                     "random weights are in no manifest; leave out one of the two");
  }
}

void CheckWorker(int index, const config::v1::Worker& worker, const Names& models,
                 ConfigFindings& findings) {
  const std::string at = absl::StrCat("workers[", index, "].");
  const absl::Status device = kernels::OwnDevicesOf(worker.device()).status();
  if (worker.device() == kAllGpus) {
    findings.Problem(at + "device", "cuda:all, and no GPU can be seen here");
  } else {
    findings.Problem(at + "device", std::string(device.message()));
  }
  for (const std::string& model : worker.models()) {
    findings.Problem(at + "models", NotOneOf(model, models));
  }
}

// Returns the names of all profiles that requests may ask for.
Names CheckProfiles(const ServerConfig& config, ConfigFindings& findings) {
  const Names built_in = kernels::BuiltInProfiles();
  Names known = built_in;
  for (int i = 0; i < config.kernel_profiles_size(); ++i) {
    const config::v1::KernelProfile& profile = config.kernel_profiles(i);
    const std::string at = absl::StrCat("kernel_profiles[", i, "].");
    if (std::find(built_in.begin(), built_in.end(), profile.name()) != built_in.end()) {
      findings.Problem(at + "name", absl::StrCat("is a built-in profile: '", profile.name(), "'"));
    }
    // Only what stands before it can be a base, so that there are no circles.
    findings.Problem(at + "base", NotOneOf(profile.base(), known));
    known.push_back(profile.name());
  }
  return known;
}

// Profiles whose videos differ from those of the built-in kernels.
std::set<std::string> LossyProfiles(const ServerConfig& config) {
  std::set<std::string> lossy;
  for (const std::string& profile : kernels::BuiltInProfiles()) {
    if (kernels::IsLossyProfile(profile)) lossy.insert(profile);
  }
  for (const config::v1::KernelProfile& profile : config.kernel_profiles()) {
    if (lossy.contains(profile.base())) lossy.insert(profile.name());
  }
  return lossy;
}

void CheckExperiment(int index, const config::v1::Experiment& experiment, const Names& models,
                     const Names& profiles, const std::set<std::string>& lossy,
                     ConfigFindings& findings) {
  const std::string at = absl::StrCat("experiments[", index, "].");
  if (!experiment.model().empty()) {
    findings.Problem(at + "model", NotOneOf(experiment.model(), models));
  }
  std::set<std::string> different;
  for (int i = 0; i < experiment.arms_size(); ++i) {
    const std::string key = absl::StrCat(at, "arms[", i, "].profile");
    const std::string& profile = experiment.arms(i).profile();
    findings.Problem(key, NotOneOf(profile, profiles));
    different.insert(profile);
    if (!lossy.contains(profile)) continue;
    findings.warnings.push_back(
        absl::StrCat(key, ": ", profile, " is lossy, and requests that ask for nothing get it"));
  }
  if (experiment.arms_size() > 1 && different.size() == 1) {
    findings.Problem(at + "arms", "both have the same profile, so that nothing is compared");
  }
}

std::string WrongFolder(const std::string& folder) {
  if (absl::StartsWith(folder, "/")) {
    return absl::StrCat("must lie below plugin_root: '", folder, "'");
  }
  for (const absl::string_view part : absl::StrSplit(folder, '/')) {
    if (part == "..") return absl::StrCat("must not lead out of plugin_root: '", folder, "'");
  }
  return "";
}

// Only what a text can say: the folders are the workers' to look at.
void CheckPlugins(const ServerConfig& config, ConfigFindings& findings) {
  CheckRoot("plugin_root", config.plugin_root(), "plugins", config.plugins_size() > 0, findings);
  for (int i = 0; i < config.plugins_size(); ++i) {
    const config::v1::Plugin& plugin = config.plugins(i);
    const std::string at = absl::StrCat("plugins[", i, "].");
    // What other rows of ListKernels come from.
    if (plugin.name() == "built-in" || plugin.name() == "framework") {
      findings.Problem(at + "name",
                       absl::StrCat("is the origin of Reel's own kernels: '", plugin.name(), "'"));
    }
    findings.Problem(at + "folder", WrongFolder(plugin.folder()));
  }
}

}  // namespace

void CheckModels(const ServerConfig& config, ConfigFindings& findings) {
  Names models;
  for (const config::v1::Model& model : config.models()) models.push_back(model.name());
  for (int i = 0; i < config.models_size(); ++i) CheckModel(i, config.models(i), findings);
  for (int i = 0; i < config.workers_size(); ++i) {
    CheckWorker(i, config.workers(i), models, findings);
  }
  const Names profiles = CheckProfiles(config, findings);
  const std::set<std::string> lossy = LossyProfiles(config);
  for (int i = 0; i < config.experiments_size(); ++i) {
    CheckExperiment(i, config.experiments(i), models, profiles, lossy, findings);
  }
  CheckPlugins(config, findings);
}

namespace {

using config::v1::ServerConfig;
using Registered = std::map<std::string, const config::v1::Adapter*>;

constexpr size_t kMostDescriptionBytes = 200;

Registered CheckRegistered(const ServerConfig& config, ConfigFindings& findings) {
  std::vector<std::string> models;
  for (const config::v1::Model& model : config.models()) models.push_back(model.name());
  Registered registered;
  for (int i = 0; i < config.adapters_size(); ++i) {
    const config::v1::Adapter& adapter = config.adapters(i);
    const std::string at = absl::StrCat("adapters[", i, "].");
    if (adapter.file()[0] == '/') {
      findings.Problem(at + "file",
                       absl::StrCat("must be a file below adapter_root: '", adapter.file(), "'"));
    }
    for (const std::string& model : adapter.models()) {
      findings.Problem(at + "models", NotOneOf(model, models));
    }
    const double most = adapter.max_scale();
    if (adapter.has_default_scale() && !(std::abs(adapter.default_scale()) <= most)) {
      findings.Problem(at + "default_scale", absl::StrCat("must be ", -most, " to ", most, ": ",
                                                          adapter.default_scale()));
    }
    if (adapter.description().size() > kMostDescriptionBytes) {
      findings.Problem(at + "description", absl::StrCat("must be at most ", kMostDescriptionBytes,
                                                        " bytes: ", adapter.description().size()));
    }
    registered.emplace(adapter.name(), &adapter);
  }
  return registered;
}

// Whether a model may have the adapter at this scale.
void CheckUse(const std::string& key, const config::v1::Model& model,
              const config::v1::ModelAdapter& wanted, const config::v1::Adapter& adapter,
              ConfigFindings& findings) {
  const auto& models = adapter.models();
  if (!models.empty() && std::find(models.begin(), models.end(), model.name()) == models.end()) {
    findings.Problem(key + "name", absl::StrCat("the adapter is not for this model: '",
                                                wanted.name(), "', see its models"));
  }
  const double scale = wanted.has_scale() ? wanted.scale() : 1, most = adapter.max_scale();
  if (!(std::abs(scale) <= most)) {
    findings.Problem(key + "scale", absl::StrCat("must be ", -most, " to ", most, ": ", scale));
  }
}

void CheckOfModel(const std::string& at, const config::v1::Model& model,
                  const Registered& registered, ConfigFindings& findings) {
  if (model.has_test_card() && model.adapters_size() > 0) {
    findings.Problem(at, "the test card has no weights; leave it out");
  }
  std::set<std::string> taken;
  for (int i = 0; i < model.adapters_size(); ++i) {
    const config::v1::ModelAdapter& wanted = model.adapters(i);
    const std::string key = absl::StrCat(at, "[", i, "].");
    const auto found = registered.find(wanted.name());
    if (found == registered.end()) {
      findings.Problem(key + "name",
                       absl::StrCat("no adapter of this name in adapters: '", wanted.name(), "'"));
      continue;
    }
    if (!taken.insert(wanted.name()).second) {
      findings.Problem(key + "name", absl::StrCat("is listed twice: '", wanted.name(), "'"));
    }
    CheckUse(key, model, wanted, *found->second, findings);
  }
}

// Room for adapters of requests.
void CheckRanks(const std::string& at, const config::v1::Model& model, ConfigFindings& findings) {
  const int ranks = model.adapter_ranks();
  if (ranks % model::kAdapterSlot != 0) {
    findings.Problem(at, absl::StrCat("must be a multiple of ", model::kAdapterSlot, ": ", ranks));
  }
  if (ranks > 0 && model.has_test_card()) {
    findings.Problem(at, "the test card has no weights; leave it out");
  }
}

}  // namespace

void CheckAdapters(const ServerConfig& config, ConfigFindings& findings) {
  CheckRoot("adapter_root", config.adapter_root(), "adapters", config.adapters_size() > 0,
            findings);
  const Registered registered = CheckRegistered(config, findings);
  for (int i = 0; i < config.models_size(); ++i) {
    CheckOfModel(absl::StrCat("models[", i, "].adapters"), config.models(i), registered, findings);
    CheckRanks(absl::StrCat("models[", i, "].adapter_ranks"), config.models(i), findings);
  }
}

}  // namespace reel::front
