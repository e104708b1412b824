// SPDX-License-Identifier: Apache-2.0
// The one answer for a video that is unknown, expired, or somebody else's.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {

inline absl::Status VideoNotFound(const std::string& id) {
  ErrorDetails details;
  details.metadata = {{"video", absl::StrCat("videos/", id)}};
  details.resource_type = "video";
  details.resource_name = absl::StrCat("videos/", id);
  return MakeError(Reason::kVideoNotFound, absl::StrCat("No such video: videos/", id), details);
}

}  // namespace reel::front
