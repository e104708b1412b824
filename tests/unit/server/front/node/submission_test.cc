// SPDX-License-Identifier: Apache-2.0
// A call's way into the log, while others are on theirs.
#include "server/front/node/submission.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using SubmissionTest = FleetFixture;

// Two servers bind one request id at about the same time, and each hears of the other's binding at
// any moment. One that heard of it between two looks of one decision bound the id once more: that
// is void, and it waited for it in vain.
TEST_F(SubmissionTest, ARequestIdThatARivalBindsMeanwhileIsNotBoundAgain) {
  constexpr int kRounds = 200;
  Member& a = Add("a", false);
  Member& b = Add("b", false);
  FleetView view;
  const auto port = log_.Join(view);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    const NewJob job =
        RequestWithId(absl::StrCat("8c5b0f60-0000-4000-8000-", absl::Dec(round, absl::kZeroPad12)));
    absl::StatusOr<JobPtr> at_a, at_b;
    std::thread rival([&] { at_b = b.Ask(job); });
    at_a = a.Ask(job);
    rival.join();
    ASSERT_EQ(log_.Count(".r.2"), 0) << "bound twice";
    ASSERT_TRUE(at_a.ok()) << at_a.status();
    ASSERT_TRUE(at_b.ok()) << at_b.status();
    ASSERT_EQ((*at_a)->Snapshot().id, (*at_b)->Snapshot().id);
  }
  EXPECT_EQ(log_.Count(".r.1"), kRounds);
  EXPECT_TRUE(view.voids().empty());
}

}  // namespace
}  // namespace reel::front
