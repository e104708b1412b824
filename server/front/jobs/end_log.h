// SPDX-License-Identifier: Apache-2.0
// The line of the log that says how a job ended and what it cost.
#pragma once

#include <vector>

#include "server/front/jobs/video.h"
#include "server/logging/log.h"

namespace reel::front {

// Of the caller's words only a request id and a trace id are in it, which are checked. No prompt,
// label or file name is, and of an error only its reason.
std::vector<Field> EndFields(const Video& video);
void LogEnd(const Video& video);

}  // namespace reel::front
