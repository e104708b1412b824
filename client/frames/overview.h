// SPDX-License-Identifier: Apache-2.0
// An overview of several videos: a row of frames for each.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::client {

// INVALID_ARGUMENT names the file that cannot be read or is no video. Holds the frames shown,
// shrunk.
absl::StatusOr<model::RgbImage> DrawOverview(const std::vector<std::string>& paths);

}  // namespace reel::client
