// SPDX-License-Identifier: Apache-2.0
// Ends that somebody else has written something under.
#include "server/front/node/end_writer.h"

#include <gtest/gtest.h>

#include "server/front/fleet/log_messages.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using EndWriterTest = FleetFixture;

// Whoever may write there, without being the one that renders: a broker without permissions.
TEST_F(EndWriterTest, WhatOthersWriteUnderAnEndsSubjectHoldsNoVideoUp) {
  Member& a = Add("a");
  for (const std::string& foreign : {WriteFinish({"mallory", FinishKind::kFailed}, "INTERNAL"),
                                     std::string("\xFF\xFFnothing")}) {
    JobPtr job = a.MustAsk(a.Request());
    const std::string id = job->Snapshot().id;
    const Sent sent = WhoRuns()->Take();
    ASSERT_TRUE(log_.Append("j.t." + id + ".f.1", foreign));
    a.RunToEnd(sent);
    ASSERT_TRUE(Comes([&] { return job->state() == VideoState::kSucceeded; }));
    EXPECT_EQ(log_.Count(id + ".c.2"), 1);
    EXPECT_EQ(log_.Count(id + ".f.2"), 1);
    // It is the same attempt, for those who watch here and elsewhere.
    EXPECT_FALSE(FindEntry<RestartedEvent>(*job).has_value());
    EXPECT_TRUE(FindEntry<FinishedEvent>(*job).has_value());
    EXPECT_EQ(ReadAll(*job), "frames");
  }
  Member& gateway = Add("gateway", false);
  ListQuery query;
  query.reach.tenant = "t";
  for (const std::string& id : gateway.Page(query)) {
    const JobPtr job = *gateway.Get(id);
    EXPECT_EQ(job->attempt(), 1);
    EXPECT_FALSE(FindEntry<RestartedEvent>(*job).has_value());
    EXPECT_TRUE(FindEntry<FinishedEvent>(*job).has_value());
  }
}

TEST_F(EndWriterTest, WhatOthersWriteUnderAnEndsSubjectHoldsNoReleaseUp) {
  Member& a = Add("a");
  JobPtr job = a.MustAsk(a.Request());
  const std::string id = job->Snapshot().id;
  WhoRuns()->Take();
  Member& b = Add("b");
  ASSERT_TRUE(log_.Append("j.t." + id + ".f.1",
                          WriteFinish({"mallory", FinishKind::kReleased}, "no reason")));
  a.service->Drain(absl::ZeroDuration(), absl::ZeroDuration(), [] {});
  ASSERT_TRUE(Comes([&] { return b.pool.num_waiting() == 1; }));
  EXPECT_EQ(log_.Count(".f.2"), 1);
  b.RunToEnd(b.Take());
  EXPECT_TRUE(Comes([&] { return b.StateOf(id) == VideoState::kSucceeded; }));
}

}  // namespace
}  // namespace reel::front
