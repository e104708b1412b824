// SPDX-License-Identifier: Apache-2.0
// The head of the files of a format, before there is any picture.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/worker/media/video_format.h"

namespace reel::worker {

// ftyp and moov, as VideoEncoder writes them.
absl::StatusOr<std::string> HeadOf(const VideoFormat& format);

}  // namespace reel::worker
