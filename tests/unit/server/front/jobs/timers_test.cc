// SPDX-License-Identifier: Apache-2.0
// Signs of life.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class TimersTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
  }
  static uint64_t Last(const Job& job) {
    uint64_t last = 0;
    for (auto entry = job.NextEntry(0); entry; entry = job.NextEntry(last)) last = entry->sequence;
    return last;
  }
};

TEST_F(TimersTest, EveryLiveVideoShowsProgressWithinAHeartbeat) {
  JobPtr running = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDenoise, 2);
  JobPtr held = MustCreate(Request());
  Take();
  JobPtr queued = MustCreate(Request());
  for (int beat = 0; beat < 3; ++beat) {
    std::vector<uint64_t> before;
    for (const JobPtr& job : {running, held, queued}) before.push_back(Last(*job));
    for (int second = 0; second < 5; ++second) AdvanceAndPoke(absl::Seconds(1));
    size_t i = 0;
    for (const JobPtr& job : {running, held, queued}) EXPECT_GT(Last(*job), before[i++]) << i;
  }
  // Old heartbeats are replaced: the log stays short.
  int entries = 0;
  for (auto entry = queued->NextEntry(0); entry; entry = queued->NextEntry(entry->sequence)) {
    ++entries;
  }
  EXPECT_LE(entries, 4);
}

TEST_F(TimersTest, TellsThePlaceInTheQueueAndTheTimeLeft) {
  for (int i = 0; i < 2; ++i) {
    MustCreate(Request());
    Take();
  }
  std::vector<JobPtr> queued;
  for (int i = 0; i < 3; ++i) {
    queued.push_back(MustCreate(Request()));
    clock.Advance(absl::Milliseconds(1));
  }
  AdvanceAndPoke(absl::Seconds(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(queued[static_cast<size_t>(i)]->Snapshot().progress.queue_position, i);
  }
  EXPECT_GT(queued[2]->Snapshot().progress.remaining, queued[0]->Snapshot().progress.remaining);
}

TEST_F(TimersTest, ReportsGauges) {
  for (int i = 0; i < 3; ++i) MustCreate(Request());
  Settle();
  const QueueGauges gauges = observer.Get().gauges;
  EXPECT_EQ(gauges.queued, 1);
  EXPECT_EQ(gauges.running, 2);
  EXPECT_GT(gauges.backlog_seconds, 0);
  EXPECT_EQ(gauges.capacity_seconds, options.max_backlog_seconds);
  EXPECT_EQ(gauges.device_capacity_seconds, options.max_backlog_seconds);
  EXPECT_GT(gauges.stored_limit_bytes, 0);
}

}  // namespace
}  // namespace reel::front
