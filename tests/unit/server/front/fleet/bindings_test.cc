// SPDX-License-Identifier: Apache-2.0
// Tests that the fold keeps the videos of request ids, and what a video's owners say of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fakes/memory_records.h"
#include "tests/unit/server/front/fleet/fold_entries.h"

namespace reel::front {
namespace {

using reel::testing::Fold;

// What of a request id came before, one more message, and what the id stands for then.
struct BindingCase {
  std::string name;
  std::vector<FoldEntry> before;  // all of them count
  FoldEntry entry;
  FoldVerdict verdict = FoldVerdict::kCounted;
  FleetBinding binding;
};

std::vector<BindingCase> CasesOfBindings() {
  using V = FoldVerdict;
  const FleetBinding first{1, "a", "hash"};
  const FleetBinding second{2, "b", "hash"};
  return {
      {"a first binding", {}, Bind(1, "a"), V::kCounted, first},
      {"of a video that is there", {Request()}, Bind(1, "a"), V::kCounted, first},
      {"a rival's", {Bind(1, "a")}, Bind(1, "b"), V::kWrongEpoch, first},
      {"one that leaves a number out", {Bind(1, "a")}, Bind(3, "b"), V::kWrongEpoch, first},
      {"again before the video has come", {Bind(1, "a")}, Bind(2, "b"), V::kBound, first},
      {"while it waits", {Bind(1, "a"), Request()}, Bind(2, "b"), V::kBound, first},
      {"while it runs", {Bind(1, "a"), Request(), Claim(1, "n1")}, Bind(2, "b"), V::kBound, first},
      {"of what has a result",
       {Bind(1, "a"), Request(), Claim(1, "n1"), Finish(1, "n1", kDone)},
       Bind(2, "b"),
       V::kBound,
       first},
      {"after a failure",
       {Bind(1, "a"), Request(), Claim(1, "n1"), Finish(1, "n1", kBroke)},
       Bind(2, "b"),
       V::kCounted,
       second},
      {"after a cancel", {Bind(1, "a"), Request(), Wish()}, Bind(2, "b"), V::kCounted, second},
      {"after an expiry",
       {Bind(1, "a"), Request(), Wish(CancelKind::kExpired)},
       Bind(2, "b"),
       V::kCounted,
       second},
      {"the first number after a failure",
       {Bind(1, "a"), Request(), Wish()},
       Bind(1, "b"),
       V::kWrongEpoch,
       first},
  };
}

TEST(Bindings, JudgesRequestIds) {
  for (const BindingCase& one : CasesOfBindings()) {
    SCOPED_TRACE(one.name);
    FleetState state;
    for (FoldEntry entry : one.before) {
      entry.sequence = state.position + 1;
      ASSERT_EQ(Fold(state, entry), FoldVerdict::kCounted);
    }
    FoldEntry entry = one.entry;
    entry.sequence = state.position + 1;
    EXPECT_STREQ(NameOf(Fold(state, entry)), NameOf(one.verdict));
    EXPECT_EQ(state.position, entry.sequence);
    FleetBinding binding = state.bindings.at({"t", "r"});
    binding.sequence = 0;  // of whichever counted
    EXPECT_EQ(binding, one.binding);
  }
}

TEST(Bindings, KeepsRequestIdsOfTenantsAndVideosApart) {
  FleetState state;
  FoldEntry entry = Bind(1, "a", "a");  // the name of a video
  entry.sequence = 1;
  EXPECT_EQ(Fold(state, entry), FoldVerdict::kCounted);
  entry = Request();
  entry.sequence = 2;
  EXPECT_EQ(Fold(state, entry), FoldVerdict::kCounted);
  entry = Bind(1, "b", "a");
  entry.sequence = 3;
  entry.subject.tenant = "other";
  EXPECT_EQ(Fold(state, entry), FoldVerdict::kCounted);
  EXPECT_EQ(state.bindings.size(), 2U);
}

TEST(Bindings, KeepsWhatOnesOwnersSay) {
  FleetState state;
  FoldEntry request{1, {"t", "a", LogKind::kRequest, 0}, RequestSaid{"asked"}};
  Fold(state, request);
  Fold(state, {2, {"t", "a", LogKind::kClaim, 1}, ClaimSaid{"n1", "1.2.3.4:5"}});
  const FleetJob& job = state.jobs.at({"t", "a"});
  EXPECT_EQ(job.video, "asked");
  EXPECT_EQ(job.address, "1.2.3.4:5");
  Fold(state, {3, {"t", "a", LogKind::kFinish, 1}, FinishSaid{"n1", kBack, "put back", 1}});
  EXPECT_EQ(job.video, "asked");
  Fold(state, {4, {"t", "a", LogKind::kClaim, 2}, ClaimSaid{"n2", ""}});
  Fold(state, {5, {"t", "a", LogKind::kFinish, 1}, FinishSaid{"n1", kDone, "void", 2}});
  EXPECT_EQ(job.video, "asked");
  Fold(state, {6, {"t", "a", LogKind::kFinish, 2}, FinishSaid{"n2", kDone, "done", 7}});
  EXPECT_EQ(job.video, "done");
  EXPECT_EQ(job.last_sequence, 7U);
}

// Folds entries as they come.
FleetState StateAfter(std::vector<FoldEntry> entries) {
  FleetState state;
  for (FoldEntry& entry : entries) {
    entry.sequence = state.position + 1;
    Fold(state, entry);
  }
  return state;
}

FoldEntry WishThatLeaves(std::string video) {
  FoldEntry wish = Wish();
  std::get<CancelSaid>(wish.said).video = std::move(video);
  return wish;
}

TEST(Bindings, AWishSaysWhatBecomesOfWhatNobodyHolds) {
  const FleetState::Key key{"t", "a"};
  EXPECT_EQ(StateAfter({Request(), WishThatLeaves("gone")}).jobs.at(key).video, "gone");
  const FleetState back =
      StateAfter({Request(), Claim(1, "n1"), WishThatLeaves("gone"), Finish(1, "n1", kBack)});
  EXPECT_EQ(back.jobs.at(key).phase, FleetPhase::kCancelled);
  EXPECT_EQ(back.jobs.at(key).video, "gone");
  // Who holds it says it better.
  FoldEntry end = Finish(1, "n1", kBroke);
  std::get<FinishSaid>(end.said).video = "ended";
  const FleetState ended = StateAfter({Request(), Claim(1, "n1"), WishThatLeaves("gone"), end});
  EXPECT_EQ(ended.jobs.at(key).video, "ended");
}

TEST(Bindings, ADeletionHidesWhatHasEndedAndHoldsItsRequestId) {
  const FleetState::Key key{"t", "a"};
  std::vector<FoldEntry> entries = {Bind(1, "a"), Request(), Deletion()};
  EXPECT_FALSE(StateAfter(entries).jobs.at(key).deleted);
  entries = {Bind(1, "a"),           Request(),  Claim(1, "n1"),
             Finish(1, "n1", kDone), Deletion(), Bind(2, "b")};
  const FleetState deleted = StateAfter(entries);
  EXPECT_TRUE(deleted.jobs.at(key).deleted);
  EXPECT_TRUE(deleted.jobs.at(key).video.empty());
  EXPECT_EQ(deleted.bindings.at({"t", "r"}).video, "a");
}

}  // namespace
}  // namespace reel::front
