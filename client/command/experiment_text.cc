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

std::string Interval(const v1::ExperimentShape& shape) {
  if (shape.ratio() <= 0) return "";
  return absl::StrFormat("%.3f (%.3f to %.3f)", shape.ratio(), shape.ratio_low(),
                         shape.ratio_high());
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
                    Steps(shape, 0), Steps(shape, 1), Interval(shape), SoFar(experiment, shape)});
    }
  }
  if (!any) return "";
  return absl::StrCat("\n", table.Render(),
                      "An interval that is watched while it grows is no test; `reel ab` is one.\n");
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
  return table.Render() + Shapes(experiments);
}

}  // namespace reel::client
