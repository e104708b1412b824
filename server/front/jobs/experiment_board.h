// SPDX-License-Identifier: Apache-2.0
// Experiments: the arm that a request gets, and the results since this process started.
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

// Seconds that a step of a finished video took: the median of those that ran alone, after the
// first, and whose operators were not timed. Nothing without such a step.
std::optional<double> SoloStepSeconds(const model::RunStats& stats);

enum class ExperimentVerdict { kNotEnoughData, kNoDifference, kSecondFaster, kSecondSlower };

struct ExperimentShape {
  std::string model;
  int width = 0, height = 0, num_frames = 0;
  std::vector<Moments> log_step;  // by arm, of the seconds of a step
  std::optional<Ratio> ratio;     // of the second arm to the first
  ExperimentVerdict verdict = ExperimentVerdict::kNotEnoughData;
};

// What shadow renders have shown (shadows/).
struct ShadowTally {
  int64_t identical = 0, differ = 0, given_up = 0, failed = 0;
  Moments psnr_db;  // of those that differ, as what follows
  double lowest_psnr_db = 0, lowest_ssim = 1;
  Moments log_ratio;  // of a step's seconds, the second arm's to the first's, video by video
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
  static constexpr int64_t kLeastVideos = 20;  // an arm, before anything is said
  static constexpr size_t kMostShapes = 32;    // of an experiment; further ones are not looked at

  explicit ExperimentBoard(const std::vector<ExperimentOptions>& experiments);

  // A video reached its end. One of no experiment is none of ours.
  void Ended(const Video& video);
  void Shadowed(const ShadowResult& result);
  std::vector<ExperimentReport> Reports() const;
  // Of a step of the second arm to one of the first, over all shapes that have enough videos.
  // Nothing before there is one.
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
  std::string problem;  // of what the request asked for; empty: none
  bool drawn = false;   // it asked for nothing
};

// Writes experiment, arm and the arm's profile into `kernels` where the request takes part. One
// that names an experiment does; of those that leave their kernels open the configured share. The
// same `key` always has the same arm: request ids and retries keep theirs.
ArmChoice ChooseArm(const std::vector<ExperimentOptions>& experiments, const std::string& model,
                    const std::string& key, model::KernelSelection& kernels);

}  // namespace reel::front
