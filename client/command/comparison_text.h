// SPDX-License-Identifier: Apache-2.0
// Prints a comparison of two arms. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/command/frames_program.h"
#include "client/command/pair_verdict.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// One video of each arm, and the arms' names.
struct ArmVideos {
  std::string name_a, name_b;
  v1::Video a, b;
};

// Each part of the time, then each operator, with its variants and times in both videos and the
// ratio of B to A.
std::string CompareBills(const ArmVideos& videos);

// Why pictures of exact variants should not differ this much; empty if they do not.
std::string DistanceWarning(const ArmVideos& videos, const std::optional<FrameDistance>& distance);

// The output of `reel ab`, ending with its verdict, as text and as JSON.
struct AbReport {
  ArmVideos videos;
  std::vector<StepPair> pairs;
  PairResult result;
  std::optional<FrameDistance> distance;
};
std::string AbText(const AbReport& report);
std::string AbJson(const AbReport& report);

}  // namespace reel::client
