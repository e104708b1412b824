// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/traced_ends.h"

#include "server/front/traces/video_trace.h"

namespace reel::front {

void TracedEnds::JobEnded(const Video& video, bool detached) {
  if (IsTraced(video, share_)) exporter_.Add(TraceOf(video, detached));
}

}  // namespace reel::front
