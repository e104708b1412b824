// SPDX-License-Identifier: Apache-2.0
// A finished video as a trace that chrome://tracing and Perfetto open.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// JSON of Chrome's trace event format: the request with its parts, each step one of them, and on a
// second track what the operators of timed pieces took. `until_end`: from the acceptance to the end
// of the stream, as the caller saw it; what the server did not need of it is delivery.
//
// The server tells how long operators took, not when they ran: within a timed piece they follow one
// another in the order of their names, and their calls are one event.
std::string ChromeTrace(const v1::Video& video, absl::Duration until_end);

}  // namespace reel::client
