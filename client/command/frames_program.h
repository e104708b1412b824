// SPDX-License-Identifier: Apache-2.0
// Asks reel-frames, which lies beside this program, how far two videos lie apart.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace reel::client {

struct FrameDistance {
  int frames = 0;
  std::optional<double> psnr_db;  // none: the videos are equal
  double ssim = 1;
};

struct FramesRequest {
  std::string a, b;   // MP4 files
  std::string sheet;  // a PNG to write; may be empty
};

// NOT_FOUND: the program is not in `folder`. INVALID_ARGUMENT: its own words about the files.
absl::StatusOr<FrameDistance> AskFrames(const std::string& folder, const FramesRequest& request);

// "identical", "PSNR 48.2 dB, SSIM 0.9981".
std::string DistanceText(const FrameDistance& distance);

}  // namespace reel::client
