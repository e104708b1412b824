// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/fleet_view.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

StoredMessage RequestOf(uint64_t sequence, int video) {
  return {sequence, absl::StrCat("j.t.v", video, ".q"), "", ""};
}

TEST(FleetView, WaitsForOnesOwnWrites) {
  FleetView view;
  EXPECT_FALSE(view.WaitFor(1, absl::ZeroDuration()));
  std::thread tail([&] {
    for (uint64_t i = 1; i <= 100; ++i) view.OnMessage(RequestOf(i, static_cast<int>(i)));
  });
  EXPECT_TRUE(view.WaitFor(100, absl::Minutes(1)));
  tail.join();
  EXPECT_EQ(view.state().jobs.size(), 100U);
  EXPECT_EQ(view.Find("t", "v100")->requested, 100U);
  EXPECT_FALSE(view.Find("t", "v101").has_value());
}

TEST(FleetView, CountsWhatIsVoidByWhy) {
  FleetView view;
  view.OnMessage(RequestOf(1, 1));
  view.OnMessage(RequestOf(1, 1));  // heard again
  view.OnMessage(RequestOf(2, 1));
  view.OnMessage({3, "j.t.v1.c.2", "", "\x0a\x02n1"});
  view.OnMessage({4, "anything", "", ""});
  const std::map<FoldVerdict, int64_t> expected = {
      {FoldVerdict::kKnownJob, 1}, {FoldVerdict::kWrongEpoch, 1}, {FoldVerdict::kUnreadable, 1}};
  EXPECT_EQ(view.voids(), expected);
  EXPECT_EQ(view.state().position, 4U);
}

TEST(FleetView, IsNotReadyUntilItHasCaughtUp) {
  FleetView view;
  EXPECT_FALSE(view.ready());
  EXPECT_FALSE(view.WaitUntilReady(absl::ZeroDuration()));
  view.OnMessage(RequestOf(1, 1));
  view.OnCaughtUp({});
  EXPECT_TRUE(view.WaitUntilReady(absl::ZeroDuration()));
  view.OnRebuild();
  EXPECT_FALSE(view.ready());
  EXPECT_EQ(view.state(), FleetState{});
}

TEST(FleetView, GoesOnFromOneThatWasKept) {
  FleetView first;
  first.OnMessage(RequestOf(1, 1));
  FleetView second(first.state());
  second.OnMessage(RequestOf(1, 1));
  second.OnMessage(RequestOf(2, 2));
  EXPECT_EQ(second.state().jobs.size(), 2U);
  EXPECT_TRUE(second.voids().empty());
}

}  // namespace
}  // namespace reel::front
