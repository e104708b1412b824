// SPDX-License-Identifier: Apache-2.0
// Writes a finished video as a trace for chrome://tracing and Perfetto.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// JSON in Chrome's trace event format: the request with its parts, and each step as one of them; on
// a second track the operators of timed pieces. `until_end`: from acceptance to the end of the
// stream, as the caller saw it; time that the server did not use is delivery.
//
// The server reports how long operators took, not when they ran. Within a timed piece they follow
// one another in the order of their names, each with all its calls as one event.
std::string ChromeTrace(const v1::Video& video, absl::Duration until_end);

}  // namespace reel::client
