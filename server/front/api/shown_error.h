// SPDX-License-Identifier: Apache-2.0
// Errors as callers see them.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace reel::front {

// An error that has a reason, as it is. A bare CANCELLED is a caller that left; anything else is
// logged and shown as INTERNAL. `status` is not OK.
absl::Status ShownToClients(const absl::Status& status);

// The end of a video as the end of a stream: the same status whose ErrorInfo names the video:
// metadata "video" = "videos/{id}". One without ErrorInfo stays as it is.
absl::Status WithVideo(absl::Status status, const std::string& id);

}  // namespace reel::front
