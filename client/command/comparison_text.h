// SPDX-License-Identifier: Apache-2.0
// Two arms side by side. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/command/frames_program.h"
#include "client/command/pair_verdict.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// A video that each arm rendered, and what the arms are called.
struct ArmVideos {
  std::string name_a, name_b;
  v1::Video a, b;
};

// Each part of the time, then each operator, with its variants and time in either video and the
// ratio of B to A.
std::string CompareBills(const ArmVideos& videos);

// Of the whole, why pictures of exact variants should not lie this far apart; empty: they do not.
std::string DistanceWarning(const ArmVideos& videos, const std::optional<FrameDistance>& distance);

// What `reel ab` prints, ending with its verdict, for people and as JSON.
struct AbReport {
  ArmVideos videos;
  std::vector<StepPair> pairs;
  PairResult result;
  std::optional<FrameDistance> distance;
};
std::string AbText(const AbReport& report);
std::string AbJson(const AbReport& report);

}  // namespace reel::client
