// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "model/request_adapter.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/config_checks.h"
#include "server/front/config/field_format.h"

namespace reel::front {
namespace {

using config::v1::ServerConfig;
using Registered = std::map<std::string, const config::v1::Adapter*>;

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
