// SPDX-License-Identifier: Apache-2.0
#include "client/command/experiment_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"

namespace reel::client {
namespace {

std::string Percent(double share) { return absl::StrFormat("%.3g%%", share * 100); }

std::string SoFar(const v1::Experiment& experiment, const v1::ExperimentShape& shape) {
  const std::string second = experiment.arms_size() > 1 ? experiment.arms(1).name() : "the second";
  switch (shape.verdict()) {
    case v1::EXPERIMENT_VERDICT_NOT_ENOUGH_DATA:
      return "not enough data";
    case v1::EXPERIMENT_VERDICT_NO_DIFFERENCE:
      return "no difference so far";
    case v1::EXPERIMENT_VERDICT_SECOND_FASTER:
      return second + " is faster";
    case v1::EXPERIMENT_VERDICT_SECOND_SLOWER:
      return second + " is slower";
    default:
      return "";
  }
}

std::string RatioText(double ratio, double low, double high) {
  return ratio > 0 ? absl::StrFormat("%.3f (%.3f to %.3f)", ratio, low, high) : "";
}

std::string Steps(const v1::ExperimentShape& shape, int arm) {
  if (arm >= shape.arms_size() || shape.arms(arm).videos() == 0) return "-";
  return absl::StrFormat("%.2f ms of %d",
                         absl::ToDoubleMilliseconds(FromProto(shape.arms(arm).step())),
                         shape.arms(arm).videos());
}

std::string Shapes(const v1::ListExperimentsResponse& experiments) {
  TextTable table(
      {"EXPERIMENT", "MODEL", "SHAPE", "STEP OF 1", "STEP OF 2", "2/1 (95 %)", "SO FAR"});
  bool any = false;
  for (const v1::Experiment& experiment : experiments.experiments()) {
    for (const v1::ExperimentShape& shape : experiment.shapes()) {
      any = true;
      table.AddRow({experiment.name(), shape.model(),
                    absl::StrFormat("%dx%dx%d", shape.width(), shape.height(), shape.num_frames()),
                    Steps(shape, 0), Steps(shape, 1),
                    RatioText(shape.ratio(), shape.ratio_low(), shape.ratio_high()),
                    SoFar(experiment, shape)});
    }
  }
  if (!any) return "";
  return absl::StrCat("\n", table.Render(),
                      "Do not read significance off a growing interval; use `reel ab`.\n");
}

std::string Apart(const v1::ExperimentShadows& shadows) {
  if (shadows.differ() == 0) return shadows.identical() > 0 ? "identical" : "-";
  return absl::StrFormat("%.1f dB, %.1f at least", shadows.psnr_db(), shadows.lowest_psnr_db());
}

std::string Shadows(const v1::ListExperimentsResponse& experiments) {
  TextTable table({"EXPERIMENT", "RENDERED TWICE", "IDENTICAL", "APART", "SSIM AT LEAST",
                   "2/1 (95 %)", "GIVEN UP", "FAILED"});
  bool any = false;
  for (const v1::Experiment& experiment : experiments.experiments()) {
    const v1::ExperimentShadows& shadows = experiment.shadows();
    if (experiment.shadow_share() <= 0) continue;
    any = true;
    table.AddRow({experiment.name(), absl::StrCat(shadows.identical() + shadows.differ()),
                  absl::StrCat(shadows.identical()), Apart(shadows),
                  shadows.differ() > 0 ? absl::StrFormat("%.4f", shadows.lowest_ssim()) : "-",
                  RatioText(shadows.ratio(), shadows.ratio_low(), shadows.ratio_high()),
                  absl::StrCat(shadows.given_up()), absl::StrCat(shadows.failed())});
  }
  return any ? absl::StrCat("\n", table.Render()) : "";
}

}  // namespace

std::string DescribeExperiments(const v1::ListExperimentsResponse& experiments) {
  if (experiments.experiments().empty()) return "";
  TextTable table(
      {"EXPERIMENT", "MODEL", "SHARE", "", "ARM", "PROFILE", "OF IT", "VIDEOS", "FAILED"});
  for (const v1::Experiment& experiment : experiments.experiments()) {
    int number = 0;
    for (const v1::ExperimentArm& arm : experiment.arms()) {
      table.AddRow({experiment.name(), experiment.model().empty() ? "all" : experiment.model(),
                    Percent(experiment.share()), absl::StrCat(++number), arm.name(), arm.profile(),
                    Percent(arm.share()), absl::StrCat(arm.videos()), absl::StrCat(arm.failed())});
    }
  }
  return table.Render() + Shapes(experiments) + Shadows(experiments);
}

}  // namespace reel::client
