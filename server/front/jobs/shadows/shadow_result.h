// SPDX-License-Identifier: Apache-2.0
// The result of a video of an experiment that was rendered again on the other arm.
#pragma once

#include <optional>
#include <string>

namespace reel::front {

enum class ShadowOutcome {
  kIdentical,  // the same pictures
  kDiffers,
  kGivenUp,  // for a job that wanted its device
  kFailed,
};

// The name that the log and the metrics share.
inline const char* ShadowOutcomeName(ShadowOutcome outcome) {
  switch (outcome) {
    case ShadowOutcome::kIdentical:
      return "identical";
    case ShadowOutcome::kDiffers:
      return "differs";
    case ShadowOutcome::kGivenUp:
      return "given_up";
    case ShadowOutcome::kFailed:
      break;
  }
  return "failed";
}

struct ShadowResult {
  std::string experiment;
  ShadowOutcome outcome = ShadowOutcome::kFailed;
  double psnr_db = 0, ssim = 1;     // of pictures that differ
  std::optional<double> log_ratio;  // of a step's seconds, the second arm's to the first's
};

}  // namespace reel::front
