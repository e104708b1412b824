// SPDX-License-Identifier: Apache-2.0
// The end of a video as the end of a stream.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace reel::front {

// The same status whose ErrorInfo names the video: metadata "video" = "videos/{id}". One without
// ErrorInfo stays as it is.
absl::Status WithVideo(absl::Status status, const std::string& id);

}  // namespace reel::front
