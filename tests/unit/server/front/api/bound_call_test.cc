// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/api/open_calls.h"
#include "tests/fakes/fake_job_service.h"

namespace reel::front {
namespace {

TEST(BoundCall, LeavesOnceWhicheverComesFirst) {
  for (const bool join_first : {true, false}) {
    FakeJobService jobs;
    BoundCall call(jobs, absl::InfiniteFuture());
    if (join_first) call.Joined("a");
    call.Ended(StreamEnd::kCallerGone);
    if (!join_first) call.Joined("a");
    ASSERT_EQ(jobs.leaves(), 1U);
    EXPECT_EQ(jobs.WaitForLeave().id, "a");
    EXPECT_EQ(jobs.WaitForLeave().reason, LeaveReason::kCallerLeft);
    call.Ended(StreamEnd::kCallerGone);
    EXPECT_EQ(jobs.leaves(), 1U);
  }
}

TEST(BoundCall, ACallThatJoinedNothingLeavesNothing) {
  FakeJobService jobs;
  BoundCall call(jobs, absl::InfiniteFuture());
  call.Ended(StreamEnd::kServed);
  EXPECT_EQ(jobs.leaves(), 0U);
}

TEST(BoundCall, AnEndAtTheDeadlineIsTheDeadlines) {
  FakeJobService jobs;
  BoundCall call(jobs, absl::Now() - absl::Milliseconds(1));
  call.Joined("a");
  call.Ended(StreamEnd::kCallerGone);
  EXPECT_EQ(jobs.WaitForLeave().reason, LeaveReason::kDeadline);
}

TEST(BoundCall, AnEndLongBeforeTheDeadlineIsTheCallers) {
  FakeJobService jobs;
  BoundCall call(jobs, absl::Now() + absl::Hours(1));
  call.Joined("a");
  call.Ended(StreamEnd::kCallerGone);
  EXPECT_EQ(jobs.WaitForLeave().reason, LeaveReason::kCallerLeft);
}

TEST(BoundCall, ASlowReaderIsNamed) {
  FakeJobService jobs;
  BoundCall call(jobs, absl::Now() - absl::Hours(1));
  call.Joined("a");
  call.Ended(StreamEnd::kSlowReader);
  EXPECT_EQ(jobs.WaitForLeave().reason, LeaveReason::kSlowReader);
}

}  // namespace
}  // namespace reel::front
