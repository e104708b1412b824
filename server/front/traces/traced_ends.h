// SPDX-License-Identifier: Apache-2.0
// Hands the traces of videos that end to the exporter.
#pragma once

#include "server/front/jobs/end_listener.h"
#include "server/front/traces/trace_exporter.h"

namespace reel::front {

// Confined to the dispatcher's thread.
class TracedEnds final : public EndListener {
 public:
  // `exporter` outlives it. `share`: of the videos whose callers leave it open.
  TracedEnds(TraceExporter& exporter, double share) : exporter_(exporter), share_(share) {}

  void JobEnded(const Video& video, bool detached) override;

 private:
  TraceExporter& exporter_;
  const double share_;
};

}  // namespace reel::front
