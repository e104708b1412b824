// SPDX-License-Identifier: Apache-2.0
// The trace of a video that has ended, made from its bill: nothing is measured for it.
#pragma once

#include "server/front/jobs/video.h"
#include "server/front/traces/otlp.h"

namespace reel::front {

// The whole, and spans for the parts of the bill. Steps are events of one span. A part that has no
// place in time, as waiting at the worker, is an attribute of the whole, "reel.wait_seconds". With
// those, the attribute "reel.seconds" of the parts sums to the bill's total. Of what the caller
// wrote nothing is in it but the ids of its request and trace, which are checked.
// `detached`: it was created, not generated.
Trace TraceOf(const Video& video, bool detached);

// Whether a video is traced: as its caller says, else by its trace id, of which `share` are. The
// same id is always chosen alike, by every reeld.
bool IsTraced(const Video& video, double share);

}  // namespace reel::front
