// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/arm_choice.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/digest/sha256.h"

namespace reel::front {
namespace {

constexpr char kNone[] = "-";

// Two independent numbers in [0, 1) that the key and the experiment's name decide.
struct Draw {
  double share = 0, arm = 0;
};

Draw DrawOf(const std::string& experiment, const std::string& key) {
  const Sha256Digest digest = Sha256Of(absl::StrCat(experiment, "\n", key));
  const auto number = [&digest](size_t begin) {
    uint32_t bits = 0;
    for (size_t i = begin; i < begin + 4; ++i) bits = bits << 8 | digest[i];
    return static_cast<double>(bits) / 4294967296.0;
  };
  return {number(0), number(4)};
}

// A request takes the profile with the arm, or what it was told before: a resolved spec may be sent
// again.
bool LeavesOpen(const model::KernelSelection& kernels, const std::string& profile) {
  return kernels.variants.empty() && (kernels.profile.empty() || kernels.profile == profile);
}

const ExperimentArm& ArmByDraw(const ExperimentOptions& experiment, double draw) {
  double below = 0;
  for (const ExperimentArm& arm : experiment.arms) {
    below += arm.share;
    if (draw < below) return arm;
  }
  return experiment.arms.back();
}

void Take(const ExperimentOptions& experiment, const ExperimentArm& arm,
          model::KernelSelection& kernels) {
  kernels.experiment = experiment.name;
  kernels.arm = arm.name;
  kernels.profile = arm.profile;
}

std::string TakeNamed(const ExperimentOptions& experiment, const std::string& key,
                      model::KernelSelection& kernels) {
  const ExperimentArm* arm = nullptr;
  std::vector<std::string> names;
  for (const ExperimentArm& one : experiment.arms) {
    names.push_back(one.name);
    if (one.name == kernels.arm) arm = &one;
  }
  if (!kernels.arm.empty() && arm == nullptr) {
    return absl::StrCat("the experiment has no arm '", kernels.arm, "'; it has ",
                        absl::StrJoin(names, " and "));
  }
  if (arm == nullptr) arm = &ArmByDraw(experiment, DrawOf(experiment.name, key).arm);
  if (!LeavesOpen(kernels, arm->profile)) {
    return "an experiment chooses the kernels; leave profile and variants empty";
  }
  Take(experiment, *arm, kernels);
  return "";
}

std::string Named(const std::vector<ExperimentOptions>& experiments, const std::string& model,
                  const std::string& key, model::KernelSelection& kernels) {
  std::vector<std::string> names;
  for (const ExperimentOptions& experiment : experiments) {
    names.push_back(experiment.name);
    if (experiment.name != kernels.experiment) continue;
    if (!experiment.model.empty() && experiment.model != model) {
      return absl::StrCat("the experiment is of the model ", experiment.model, " alone");
    }
    return TakeNamed(experiment, key, kernels);
  }
  return absl::StrCat(
      "there is no experiment '", kernels.experiment, "'; ",
      names.empty() ? "none is configured" : "configured: " + absl::StrJoin(names, ", "));
}

}  // namespace

ArmChoice ChooseArm(const std::vector<ExperimentOptions>& experiments, const std::string& model,
                    const std::string& key, model::KernelSelection& kernels) {
  if (kernels.experiment == kNone) return {};
  if (!kernels.experiment.empty()) return {Named(experiments, model, key, kernels), false};
  if (!kernels.arm.empty() && kernels.arm != kNone) {
    return {"an arm needs its experiment beside it", false};
  }
  if (!LeavesOpen(kernels, "")) return {};
  for (const ExperimentOptions& experiment : experiments) {
    if (!experiment.model.empty() && experiment.model != model) continue;
    const Draw draw = DrawOf(experiment.name, key);
    if (draw.share >= experiment.share) continue;
    Take(experiment, ArmByDraw(experiment, draw.arm), kernels);
    return {"", true};
  }
  return {};
}

}  // namespace reel::front
