// SPDX-License-Identifier: Apache-2.0
// Whoever wants to hear of ended jobs and of nothing else.
#pragma once

#include "server/front/jobs/video.h"

namespace reel::front {

class EndListener {
 public:
  virtual ~EndListener() = default;
  // On the dispatcher's thread, after the metrics; it must not wait. `detached` as the metrics'.
  virtual void JobEnded(const Video& video, bool detached) = 0;
};

}  // namespace reel::front
