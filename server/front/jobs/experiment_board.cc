// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/experiment_board.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/digest/sha256.h"

namespace reel::front {
namespace {

ExperimentVerdict VerdictOf(const ExperimentShape& shape) {
  for (const Moments& arm : shape.log_step) {
    if (arm.count() < ExperimentBoard::kLeastVideos) return ExperimentVerdict::kNotEnoughData;
  }
  if (!shape.ratio || !shape.ratio->differs()) return ExperimentVerdict::kNoDifference;
  return shape.ratio->value < 1 ? ExperimentVerdict::kSecondFaster
                                : ExperimentVerdict::kSecondSlower;
}

}  // namespace

std::optional<double> SoloStepSeconds(const model::RunStats& stats) {
  std::vector<absl::Duration> steps;
  for (const model::PartSpan& span : stats.spans) {
    if (span.part != model::RunPart::kDenoise || span.step <= 1) continue;
    if (span.jobs > 1 || span.timed || span.duration <= absl::ZeroDuration()) continue;
    steps.push_back(span.duration);
  }
  if (steps.empty()) return std::nullopt;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return absl::ToDoubleSeconds(*middle);
}

ExperimentBoard::ExperimentBoard(const std::vector<ExperimentOptions>& experiments) {
  for (const ExperimentOptions& options : experiments) {
    ExperimentReport report;
    report.options = options;
    report.arms.resize(options.arms.size());
    seen_.push_back({std::move(report), {}});
  }
}

void ExperimentBoard::Ended(const Video& video) {
  const MutexLock lock(mutex_);
  for (Seen& seen : seen_) {
    const ExperimentOptions& options = seen.report.options;
    if (options.name != video.spec.kernels.experiment) continue;
    for (size_t i = 0; i < options.arms.size(); ++i) {
      if (options.arms[i].name != video.spec.kernels.arm) continue;
      ++seen.report.arms[i].videos;
      if (video.state != VideoState::kSucceeded) {
        ++seen.report.arms[i].failed;
        return;
      }
      const auto seconds = video.stats ? SoloStepSeconds(*video.stats) : std::nullopt;
      const ShapeKey key{video.spec.model, video.spec.width, video.spec.height,
                         video.spec.num_frames};
      if (!seconds || (seen.shapes.size() >= kMostShapes && !seen.shapes.contains(key))) return;
      auto& arms = seen.shapes[key];
      arms.resize(options.arms.size());
      arms[i].Add(std::log(*seconds));
      return;
    }
  }
}

void ExperimentBoard::Shadowed(const ShadowResult& result) {
  const MutexLock lock(mutex_);
  for (Seen& seen : seen_) {
    if (seen.report.options.name != result.experiment) continue;
    ShadowTally& tally = seen.report.shadows;
    tally.identical += result.outcome == ShadowOutcome::kIdentical ? 1 : 0;
    tally.given_up += result.outcome == ShadowOutcome::kGivenUp ? 1 : 0;
    tally.failed += result.outcome == ShadowOutcome::kFailed ? 1 : 0;
    if (result.outcome == ShadowOutcome::kDiffers) {
      ++tally.differ;
      tally.psnr_db.Add(result.psnr_db);
      tally.lowest_psnr_db =
          tally.differ == 1 ? result.psnr_db : std::min(tally.lowest_psnr_db, result.psnr_db);
      tally.lowest_ssim = std::min(tally.lowest_ssim, result.ssim);
    }
    if (result.log_ratio) tally.log_ratio.Add(*result.log_ratio);
  }
}

ExperimentReport ExperimentBoard::ReportOf(const Seen& seen) {
  ExperimentReport report = seen.report;
  for (const auto& [key, arms] : seen.shapes) {
    const auto& [model, width, height, num_frames] = key;
    ExperimentShape shape{model, width, height, num_frames, arms, std::nullopt, {}};
    if (arms.size() == 2) shape.ratio = WelchRatio(arms[0], arms[1]);
    shape.verdict = VerdictOf(shape);
    report.shapes.push_back(std::move(shape));
  }
  return report;
}

std::vector<ExperimentReport> ExperimentBoard::Reports() const {
  const MutexLock lock(mutex_);
  std::vector<ExperimentReport> reports;
  for (const Seen& seen : seen_) reports.push_back(ReportOf(seen));
  return reports;
}

std::optional<Ratio> ExperimentBoard::StepRatio(const std::string& experiment) const {
  const MutexLock lock(mutex_);
  std::vector<Ratio> ratios;
  for (const Seen& seen : seen_) {
    if (seen.report.options.name != experiment) continue;
    for (const ExperimentShape& shape : ReportOf(seen).shapes) {
      if (shape.verdict != ExperimentVerdict::kNotEnoughData && shape.ratio) {
        ratios.push_back(*shape.ratio);
      }
    }
  }
  return PooledRatio(ratios);
}

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
