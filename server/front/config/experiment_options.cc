// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/experiment_options.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "reel/config/v1/config.pb.h"

namespace reel::front {
namespace {

namespace pb = config::v1;

class ExperimentReader {
 public:
  ExperimentReader(const pb::ServerConfig& config, OptionReader& reader,
                   std::vector<std::string>& warnings)
      : reader_(reader), warnings_(warnings), profiles_(kernels::BuiltInProfiles()) {
    for (const pb::Model& model : config.models()) models_.push_back(model.name());
    for (const std::string& profile : profiles_) {
      if (kernels::IsLossyProfile(profile)) lossy_.insert(profile);
    }
    for (const pb::KernelProfile& profile : config.kernel_profiles()) {
      profiles_.push_back(profile.name());
      if (lossy_.contains(profile.base())) lossy_.insert(profile.name());
    }
  }

  ConfiguredExperiment Read(int index, const pb::Experiment& experiment) {
    const std::string key = absl::StrCat("experiments[", index, "].");
    if (!experiment.model().empty()) reader_.OneOf(key + "model", experiment.model(), models_);
    ConfiguredExperiment out{
        experiment.name(), experiment.model(), experiment.share(), {}, experiment.shadow_share()};
    std::set<std::string> profiles;
    double weights = 0;
    for (int i = 0; i < experiment.arms_size(); ++i) {
      out.arms.push_back(ReadArm(absl::StrCat(key, "arms[", i, "]."), experiment.arms(i)));
      weights += out.arms.back().share;
      profiles.insert(out.arms.back().profile);
    }
    for (ConfiguredArm& arm : out.arms) arm.share /= weights;
    if (out.arms.size() > 1 && profiles.size() == 1) {
      reader_.Problem(key + "arms", "both have the same profile, so that nothing is compared");
    }
    return out;
  }

 private:
  ConfiguredArm ReadArm(const std::string& key, const pb::Arm& arm) {
    const std::string& profile = arm.profile();
    reader_.OneOf(key + "profile", profile, profiles_);
    if (lossy_.contains(profile)) {
      warnings_.push_back(absl::StrCat(key, "profile: ", profile,
                                       " is lossy, and requests that ask for nothing get it"));
    }
    return {arm.name(), profile, arm.weight()};
  }
  OptionReader& reader_;
  std::vector<std::string>& warnings_;
  std::vector<std::string> profiles_, models_;
  std::set<std::string> lossy_;
};

}  // namespace

std::vector<ConfiguredExperiment> ReadExperiments(const pb::ServerConfig& config,
                                                  OptionReader& reader,
                                                  std::vector<std::string>& warnings) {
  ExperimentReader experiments(config, reader, warnings);
  std::vector<ConfiguredExperiment> out;
  for (int i = 0; i < config.experiments_size(); ++i) {
    out.push_back(experiments.Read(i, config.experiments(i)));
  }
  return out;
}

}  // namespace reel::front
