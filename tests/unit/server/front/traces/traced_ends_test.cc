// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/traces/trace_exporter.h"
#include "tests/unit/server/front/traces/ended_video.h"
#include "tests/unit/server/front/traces/fake_collector.h"

namespace reel::front {
namespace {

TEST(TracedEnds, HandsTheTracedOnesToTheExporterAndNoOther) {
  FakeCollector collector;
  TraceCounts counts;
  {
    TraceExporter exporter({}, collector, counts);
    TracedEnds ends(exporter, 1);
    Video video = EndedVideo();
    ends.JobEnded(video, true);
    video.caller_span.sampled = false;
    ends.JobEnded(video, false);
  }
  EXPECT_EQ(counts.Of(TraceEnd::kSent), 1);
}

}  // namespace
}  // namespace reel::front
