// SPDX-License-Identifier: Apache-2.0
// Runs reel-frames, the program beside this one, to compare or show videos.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::client {

struct FrameDistance {
  int frames = 0;
  std::optional<double> psnr_db;  // absent: the videos are equal
  double ssim = 1;
};

struct FramesRequest {
  std::string a, b;   // MP4 files
  std::string sheet;  // a PNG to write; may be empty
};

// NOT_FOUND: the program is not in `folder`. INVALID_ARGUMENT: its message about the files.
absl::StatusOr<FrameDistance> AskFrames(const std::string& folder, const FramesRequest& request);

// Writes a PNG with a row of frames of each video. Errors as above.
absl::Status DrawOverview(const std::string& folder, const std::vector<std::string>& videos,
                          const std::string& png);

// "identical", "PSNR 48.2 dB, SSIM 0.9981".
std::string DistanceText(const FrameDistance& distance);

}  // namespace reel::client
