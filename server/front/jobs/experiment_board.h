// SPDX-License-Identifier: Apache-2.0
// Experiments: assigns requests to arms and collects results since this process started.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/base/mutex.h"
#include "kernels/base/statistics/log_ratio.h"
#include "model/generation_spec.h"
#include "server/front/jobs/shadows/shadow_result.h"
#include "server/front/jobs/video.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// Median seconds of a finished video's steps that ran alone, without the first and those whose
// operators were timed. nullopt without such a step.
std::optional<double> SoloStepSeconds(const model::RunStats& stats);

enum class ExperimentVerdict { kNotEnoughData, kNoDifference, kSecondFaster, kSecondSlower };

struct ExperimentShape {
  std::string model;
  int width = 0, height = 0, num_frames = 0;
  std::vector<Moments> log_step;  // by arm, logarithm of seconds per step
  std::optional<Ratio> ratio;     // of the second arm to the first
  ExperimentVerdict verdict = ExperimentVerdict::kNotEnoughData;
};

// Results of shadow renders (shadows/).
struct ShadowTally {
  int64_t identical = 0, differ = 0, given_up = 0, failed = 0;
  Moments psnr_db;  // of those that differ, like the next fields
  double lowest_psnr_db = 0, lowest_ssim = 1;
  Moments log_ratio;  // logarithm of the second arm's seconds per step over the first's, by video
};

struct ExperimentReport {
  struct Arm {
    int64_t videos = 0, failed = 0;
  };
  ExperimentOptions options;
  std::vector<Arm> arms;
  std::vector<ExperimentShape> shapes;
  ShadowTally shadows = {};
};

// Thread-safe.
class ExperimentBoard {
 public:
  static constexpr int64_t kLeastVideos = 20;  // per arm, before a ratio is reported
  static constexpr size_t kMostShapes = 32;    // of an experiment; further ones are not looked at

  explicit ExperimentBoard(const std::vector<ExperimentOptions>& experiments);

  // Adds an ended video; ignores videos without an experiment.
  void Ended(const Video& video);
  void Shadowed(const ShadowResult& result);
  std::vector<ExperimentReport> Reports() const;
  // Ratio of the second arm's step time to the first's, over all shapes with enough videos. nullopt
  // before there is one.
  std::optional<Ratio> StepRatio(const std::string& experiment) const;

 private:
  using ShapeKey = std::tuple<std::string, int, int, int>;
  struct Seen {
    ExperimentReport report;  // without shapes
    std::map<ShapeKey, std::vector<Moments>> shapes;
  };

  static ExperimentReport ReportOf(const Seen& seen);

  mutable Mutex mutex_;
  std::vector<Seen> seen_ ABSL_GUARDED_BY(mutex_);
};

struct ArmChoice {
  std::string problem;  // of the request's selection; empty if none
  bool drawn = false;   // it asked for nothing
};

// Writes experiment, arm and the arm's profile into `kernels` if the request takes part. It does if
// it names an experiment, and by the configured share if it leaves its kernels open. The same `key`
// always gets the same arm, so that retries keep theirs.
ArmChoice ChooseArm(const std::vector<ExperimentOptions>& experiments, const std::string& model,
                    const std::string& key, model::KernelSelection& kernels);

}  // namespace reel::front
