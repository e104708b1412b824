// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/fleet_view.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/front/store/sqlite.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

StoredMessage RequestOf(uint64_t sequence, int video) {
  return {sequence, absl::StrCat("j.t.v", video, ".q"), "", ""};
}

// Remembers what it was told.
class Told final : public ViewListener {
 public:
  void OnFolded(const std::map<FleetState::Key, ViewChange>& changes,
                const std::vector<ViewBill>&) override {
    for (const auto& [key, change] : changes) live[key.second] = change.live;
  }
  void OnAnew() override { ++anew; }
  void OnCaughtUp() override {}

  std::map<std::string, bool> live;
  int anew = 0;
};

class FleetViewTest : public ::testing::Test {
 protected:
  ViewOptions Kept(const std::string& keys = "") const { return {file_, keys, nullptr}; }

  reel::testing::TempFolder folder_;
  const std::string file_ = folder_.File("fleet.db");
};

TEST_F(FleetViewTest, WaitsForOnesOwnWrites) {
  FleetView view;
  EXPECT_FALSE(view.WaitFor(1, absl::ZeroDuration()));
  std::thread tail([&] {
    for (uint64_t i = 1; i <= 100; ++i) view.OnMessages({RequestOf(i, static_cast<int>(i))});
  });
  EXPECT_TRUE(view.WaitFor(100, absl::Minutes(1)));
  tail.join();
  EXPECT_EQ(view.state().jobs.size(), 100U);
  EXPECT_EQ(view.Find("t", "v100")->requested, 100U);
  EXPECT_FALSE(view.Find("t", "v101").has_value());
}

TEST_F(FleetViewTest, CountsWhatIsVoidByWhy) {
  FleetView view;
  EXPECT_TRUE(view.OnMessages({RequestOf(1, 1)}));
  EXPECT_TRUE(view.OnMessages({RequestOf(1, 1),  // heard again
                               RequestOf(2, 1),
                               {3, "j.t.v1.c.2", "", "\x0a\x02n1"},
                               {4, "anything", "", ""}}));
  const std::map<FoldVerdict, int64_t> expected = {
      {FoldVerdict::kKnownJob, 1}, {FoldVerdict::kWrongEpoch, 1}, {FoldVerdict::kUnreadable, 1}};
  EXPECT_EQ(view.voids(), expected);
  EXPECT_EQ(view.state().position, 4U);
}

TEST_F(FleetViewTest, IsNotReadyUntilItHasCaughtUp) {
  FleetView view;
  EXPECT_FALSE(view.ready());
  EXPECT_FALSE(view.WaitUntilReady(absl::ZeroDuration()));
  view.OnMessages({RequestOf(1, 1)});
  view.OnCaughtUp({});
  EXPECT_TRUE(view.WaitUntilReady(absl::ZeroDuration()));
  view.OnRebuild();
  EXPECT_FALSE(view.ready());
  EXPECT_EQ(view.state(), FleetState{});
}

TEST_F(FleetViewTest, ARestartGoesOnFromWhereItWasAndTellsWhatLives) {
  {
    FleetView first(Kept());
    first.OnStream(77);
    first.OnMessages({RequestOf(1, 1), RequestOf(2, 2), {3, "j.t.v2.x", "", "\x08\x01"}});
    first.OnCaughtUp({77, 1, 3});
  }
  Told told;
  FleetView second(Kept(), &told);
  EXPECT_EQ(second.Start().position, 3U);
  EXPECT_EQ(second.Start().created, 77);
  EXPECT_FALSE(second.ready());
  EXPECT_EQ(told.live, (std::map<std::string, bool>{{"v1", true}}));
  second.OnMessages({RequestOf(3, 1), RequestOf(4, 3)});
  EXPECT_EQ(second.state().jobs.size(), 3U);
  EXPECT_TRUE(second.voids().empty());
}

TEST_F(FleetViewTest, OneThatWasReadWithOtherKeysIsReadAnew) {
  {
    FleetView first(Kept("a"));
    first.OnStream(77);
    first.OnMessages({RequestOf(1, 1)});
  }
  EXPECT_EQ(FleetView(Kept("a")).Start().position, 1U);
  FleetView second(Kept("b"));
  EXPECT_EQ(second.Start().position, 0U);
  EXPECT_EQ(second.state(), FleetState{});
  EXPECT_EQ(FleetView(Kept("b")).Start().position, 0U);
}

TEST_F(FleetViewTest, AnotherStreamIsReadAnewAlsoAfterARestart) {
  {
    FleetView first(Kept());
    first.OnStream(77);
    first.OnMessages({RequestOf(1, 1), RequestOf(2, 2)});
    first.OnRebuild();
    first.OnStream(78);
  }
  FleetView second(Kept());
  EXPECT_EQ(second.Start().position, 0U);
  EXPECT_EQ(second.Start().created, 78);
  EXPECT_EQ(second.state(), FleetState{});
}

TEST_F(FleetViewTest, OneThatCannotBeReadDeniesNothingAndIsReadAnew) {
  FleetView view(Kept());
  view.OnStream(77);
  ASSERT_TRUE(view.OnMessages({RequestOf(1, 1)}));
  ASSERT_TRUE(view.OnCaughtUp({77, 1, 1}));
  ASSERT_TRUE(view.ready());
  {
    auto other = Database::OpenAgain(file_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE((*other)->Execute("DROP TABLE videos").ok());
  }
  EXPECT_FALSE(view.Find("t", "v1").has_value());
  EXPECT_FALSE(view.ready());
  EXPECT_FALSE(view.OnCaughtUp({77, 1, 1}));
  view.OnRebuild();
  view.OnStream(77);
  EXPECT_TRUE(view.OnMessages({RequestOf(1, 1)}));
  EXPECT_TRUE(view.OnCaughtUp({77, 1, 1}));
  EXPECT_TRUE(view.ready());
  EXPECT_TRUE(view.Find("t", "v1").has_value());
}

TEST_F(FleetViewTest, ADamagedFileIsReadAnewAtTheStart) {
  {
    FleetView first(Kept());
    first.OnStream(77);
    first.OnMessages({RequestOf(1, 1)});
  }
  {
    auto other = Database::OpenAgain(file_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE((*other)->Execute("DROP TABLE videos").ok());
  }
  Told told;
  FleetView second(Kept(), &told);
  EXPECT_EQ(second.Start().position, 0U);
  EXPECT_EQ(told.anew, 1);
  EXPECT_TRUE(second.OnMessages({RequestOf(1, 1)}));
  EXPECT_FALSE(folder_.Has("fleet.db"));
}

// As a disk that is full or breaks: the server goes on without what the next start would gain.
TEST_F(FleetViewTest, AFileThatCannotBeWrittenCostsTheViewNothingButTheFile) {
  Told told;
  FleetView view(Kept(), &told);
  view.OnStream(77);
  ASSERT_TRUE(view.OnMessages({RequestOf(1, 1)}));
  ASSERT_TRUE(view.OnCaughtUp({77, 1, 1}));
  {
    auto other = Database::OpenAgain(file_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE((*other)->Execute("DROP TABLE videos").ok());
  }
  EXPECT_FALSE(view.OnMessages({RequestOf(2, 2)}));
  EXPECT_FALSE(view.ready());  // it denies nothing until it is read again
  view.OnRebuild();            // as the tail does then
  EXPECT_EQ(told.anew, 1);
  EXPECT_EQ(view.Start().position, 0U);
  view.OnStream(77);
  EXPECT_TRUE(view.OnMessages({RequestOf(1, 1), RequestOf(2, 2)}));
  view.OnCaughtUp({77, 1, 2});
  EXPECT_EQ(view.state().jobs.size(), 2U);
  // The next start has a disk again.
  FleetView next(Kept());
  EXPECT_EQ(next.Start().position, 0U);
  EXPECT_TRUE(next.OnMessages({RequestOf(1, 1)}));
  EXPECT_EQ(FleetView({folder_.File("no/such/folder"), "", nullptr}).Start().position, 0U);
}

}  // namespace
}  // namespace reel::front
