// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/traced_jobs.h"

#include <gtest/gtest.h>

#include "tests/fakes/recording_observer.h"
#include "tests/unit/server/front/traces/ended_video.h"
#include "tests/unit/server/front/traces/fake_collector.h"

namespace reel::front {
namespace {

TEST(TracedJobs, HandsEndsToTheExporterAndEverythingOn) {
  FakeCollector collector;
  TraceCounts counts;
  reel::testing::RecordingObserver next;
  {
    TraceExporter exporter({}, collector, counts);
    TracedJobs jobs(next, exporter, 1);
    Video video = EndedVideo();
    jobs.JobEnded(video, true);
    video.caller_span.sampled = false;
    jobs.JobEnded(video, false);
    jobs.JobRefused(absl::InternalError("x"), false);
    jobs.JobStarted(video, absl::Seconds(1));
    jobs.JobRestarted();
    jobs.JobPreempted();
    jobs.CancelDone(absl::Seconds(1));
    jobs.Stepped("w", {});
    jobs.PromptsRead({});
    jobs.WarmedUp("w", {});
    jobs.WorkerChanged({});
    jobs.WorkerLost("w", LossCause::kExit);
    QueueGauges gauges;
    gauges.queued = 7;
    jobs.Gauges(gauges);
    jobs.EstimateChecked(absl::Seconds(1), absl::Seconds(1), true);
  }
  EXPECT_EQ(counts.Of(TraceEnd::kSent), 1);
  const reel::testing::Observed seen = next.Get();
  EXPECT_EQ(seen.ended_detached, (std::vector<bool>{true, false}));
  EXPECT_EQ(seen.refused.size(), 1U);
  EXPECT_EQ(seen.cancels.size(), 1U);
  EXPECT_EQ(seen.losses.size(), 1U);
  EXPECT_EQ(seen.gauges.queued, 7);
  EXPECT_EQ(seen.started + seen.restarted + seen.preempted + seen.stepped + seen.estimates, 5);
}

}  // namespace
}  // namespace reel::front
