// SPDX-License-Identifier: Apache-2.0
// The line of the log that says how a job ended and what it cost.
#pragma once

#include <vector>

#include "server/front/jobs/video.h"
#include "server/logging/log.h"

namespace reel::front {

// Nothing that a caller wrote is in it but a request id and a trace id, which are checked: no
// prompt, label or file name, and of an error its reason alone.
std::vector<Field> EndFields(const Video& video);
void LogEnd(const Video& video);

}  // namespace reel::front
