// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_fold.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fakes/memory_records.h"
#include "tests/unit/server/front/fleet/fold_entries.h"

namespace reel::front {
namespace {

using reel::testing::Fold;
using reel::testing::Forget;

// What came before, one more message, and what becomes of it.
struct Case {
  std::string name;
  std::vector<FoldEntry> before;  // all of them count
  FoldEntry entry;
  FoldVerdict verdict = FoldVerdict::kCounted;
  FleetPhase phase = FleetPhase::kQueued;
  uint32_t epoch = 0;
  std::string owner;
};

std::vector<Case> CasesOfClaims() {
  using P = FleetPhase;
  using V = FoldVerdict;
  return {
      {"a first claim", {Request()}, Claim(1, "n1"), V::kCounted, P::kClaimed, 1, "n1"},
      {"a rival's of the same epoch",
       {Request(), Claim(1, "n1")},
       Claim(1, "n2"),
       V::kWrongEpoch,
       P::kClaimed,
       1,
       "n1"},
      {"one's own again",
       {Request(), Claim(1, "n1")},
       Claim(1, "n1"),
       V::kWrongEpoch,
       P::kClaimed,
       1,
       "n1"},
      {"a takeover",
       {Request(), Claim(1, "n1")},
       Claim(2, "n2"),
       V::kCounted,
       P::kClaimed,
       2,
       "n2"},
      {"a takeover from oneself",
       {Request(), Claim(1, "n1")},
       Claim(2, "n1"),
       V::kCounted,
       P::kClaimed,
       2,
       "n1"},
      {"a claim that leaves one out",
       {Request()},
       Claim(2, "n1"),
       V::kWrongEpoch,
       P::kQueued,
       0,
       ""},
  };
}

std::vector<Case> CasesOfClaimsAfterOthers() {
  using P = FleetPhase;
  using V = FoldVerdict;
  return {
      {"a claim of the past",
       {Request(), Claim(1, "n1"), Claim(2, "n2")},
       Claim(1, "n1"),
       V::kWrongEpoch,
       P::kClaimed,
       2,
       "n2"},
      {"a claim after a release",
       {Request(), Claim(1, "n1"), Finish(1, "n1", kBack)},
       Claim(2, "n2"),
       V::kCounted,
       P::kClaimed,
       2,
       "n2"},
      {"the released epoch again",
       {Request(), Claim(1, "n1"), Finish(1, "n1", kBack)},
       Claim(1, "n2"),
       V::kWrongEpoch,
       P::kQueued,
       1,
       "n1"},
      {"a claim after the end",
       {Request(), Claim(1, "n1"), Finish(1, "n1", kDone)},
       Claim(2, "n2"),
       V::kEnded,
       P::kSucceeded,
       1,
       "n1"},
      {"a claim after a cancel",
       {Request(), Wish()},
       Claim(1, "n1"),
       V::kEnded,
       P::kCancelled,
       0,
       ""},
      {"a takeover of what is to end",
       {Request(), Claim(1, "n1"), Wish()},
       Claim(2, "n2"),
       V::kCounted,
       P::kClaimed,
       2,
       "n2"},
  };
}

std::vector<Case> CasesOfEnds() {
  using P = FleetPhase;
  using V = FoldVerdict;
  return {
      {"a success",
       {Request(), Claim(1, "n1")},
       Finish(1, "n1", kDone),
       V::kCounted,
       P::kSucceeded,
       1,
       "n1"},
      {"a failure",
       {Request(), Claim(1, "n1")},
       Finish(1, "n1", kBroke),
       V::kCounted,
       P::kFailed,
       1,
       "n1"},
      {"a release",
       {Request(), Claim(1, "n1")},
       Finish(1, "n1", kBack),
       V::kCounted,
       P::kQueued,
       1,
       "n1"},
      {"an end of nobody's",
       {Request()},
       Finish(1, "n1", kDone),
       V::kWrongEpoch,
       P::kQueued,
       0,
       ""},
      {"an end by another",
       {Request(), Claim(1, "n1")},
       Finish(1, "n2", kDone),
       V::kNotClaimant,
       P::kClaimed,
       1,
       "n1"},
      {"of an owner who was replaced",
       {Request(), Claim(1, "n1"), Claim(2, "n2")},
       Finish(1, "n1", kDone),
       V::kWrongEpoch,
       P::kClaimed,
       2,
       "n2"},
      {"of the future",
       {Request(), Claim(1, "n1")},
       Finish(2, "n1", kDone),
       V::kWrongEpoch,
       P::kClaimed,
       1,
       "n1"},
  };
}

std::vector<Case> CasesOfLateEnds() {
  using P = FleetPhase;
  using V = FoldVerdict;
  return {
      {"of an epoch that was put back",
       {Request(), Claim(1, "n1"), Finish(1, "n1", kBack)},
       Finish(1, "n1", kDone),
       V::kNotHeld,
       P::kQueued,
       1,
       "n1"},
      {"after the end",
       {Request(), Claim(1, "n1"), Finish(1, "n1", kDone)},
       Finish(1, "n1", kBroke),
       V::kEnded,
       P::kSucceeded,
       1,
       "n1"},
      {"a success in spite of a wish",
       {Request(), Claim(1, "n1"), Wish()},
       Finish(1, "n1", kDone),
       V::kCounted,
       P::kSucceeded,
       1,
       "n1"},
      {"a release of what is to end",
       {Request(), Claim(1, "n1"), Wish()},
       Finish(1, "n1", kBack),
       V::kCounted,
       P::kCancelled,
       1,
       "n1"},
      {"a release of what has expired",
       {Request(), Claim(1, "n1"), Wish(CancelKind::kExpired)},
       Finish(1, "n1", kBack),
       V::kCounted,
       P::kExpired,
       1,
       "n1"},
  };
}

std::vector<Case> CasesOfTheRest() {
  using P = FleetPhase;
  using V = FoldVerdict;
  return {
      {"a request", {}, Request(), V::kCounted, P::kQueued, 0, ""},
      {"the same request", {Request()}, Request(), V::kKnownJob, P::kQueued, 0, ""},
      {"a request of what has ended",
       {Request(), Wish()},
       Request(),
       V::kKnownJob,
       P::kCancelled,
       0,
       ""},
      {"a cancel in the queue", {Request()}, Wish(), V::kCounted, P::kCancelled, 0, ""},
      {"an expiry in the queue",
       {Request()},
       Wish(CancelKind::kExpired),
       V::kCounted,
       P::kExpired,
       0,
       ""},
      {"a cancel of what runs",
       {Request(), Claim(1, "n1")},
       Wish(),
       V::kCounted,
       P::kClaimed,
       1,
       "n1"},
      {"a second cancel",
       {Request(), Claim(1, "n1"), Wish()},
       Wish(),
       V::kWishedBefore,
       P::kClaimed,
       1,
       "n1"},
      {"an expiry after a cancel",
       {Request(), Claim(1, "n1"), Wish()},
       Wish(CancelKind::kExpired),
       V::kWishedBefore,
       P::kClaimed,
       1,
       "n1"},
      {"a cancel of what was put back",
       {Request(), Claim(1, "n1"), Finish(1, "n1", kBack)},
       Wish(),
       V::kCounted,
       P::kCancelled,
       1,
       "n1"},
      {"a cancel after the end",
       {Request(), Claim(1, "n1"), Finish(1, "n1", kDone)},
       Wish(),
       V::kEnded,
       P::kSucceeded,
       1,
       "n1"},
      {"bytes of nobody's", {Request()}, Junk(), V::kUnreadable, P::kQueued, 0, ""},
  };
}

void Check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    FleetState state;
    for (FoldEntry entry : one.before) {
      entry.sequence = state.position + 1;
      ASSERT_EQ(Fold(state, entry), FoldVerdict::kCounted);
    }
    const FleetState before = state;
    FoldEntry entry = one.entry;
    entry.sequence = state.position + 5;  // what was purged in between leaves a gap
    EXPECT_STREQ(NameOf(Fold(state, entry)), NameOf(one.verdict));
    EXPECT_EQ(state.position, before.position + 5);
    if (IsVoid(one.verdict)) {
      EXPECT_EQ(state.jobs, before.jobs);
    }
    const FleetJob& job = state.jobs.at({"t", "a"});
    EXPECT_EQ(job.phase, one.phase);
    EXPECT_EQ(job.epoch, one.epoch);
    EXPECT_EQ(job.owner, one.owner);
    const FleetState after = state;
    EXPECT_EQ(Fold(state, entry), FoldVerdict::kOld);
    EXPECT_EQ(state, after);
  }
}

TEST(LogFold, JudgesClaims) {
  Check(CasesOfClaims());
  Check(CasesOfClaimsAfterOthers());
}
TEST(LogFold, JudgesEnds) {
  Check(CasesOfEnds());
  Check(CasesOfLateEnds());
}
TEST(LogFold, JudgesRequestsAndWishes) { Check(CasesOfTheRest()); }

TEST(LogFold, KnowsNothingOfAVideoWithoutItsRequest) {
  FleetState state;
  for (FoldEntry entry : {Claim(1, "n1"), Finish(1, "n1", kDone), Wish()}) {
    entry.sequence = state.position + 1;
    EXPECT_EQ(Fold(state, entry), FoldVerdict::kUnknownJob);
  }
  EXPECT_TRUE(state.jobs.empty());
}

TEST(LogFold, KeepsTenantsApart) {
  FleetState state;
  FoldEntry request = Request();
  request.sequence = 1;
  Fold(state, request);
  FoldEntry claim = Claim(1, "n1");
  claim.sequence = 2;
  claim.subject.tenant = "other";
  EXPECT_EQ(Fold(state, claim), FoldVerdict::kUnknownJob);
}

// Its attempt stays the one that it was.
TEST(LogFold, AnOwnerThatGoesOnBeginsNothing) {
  const auto begun = [](std::vector<FoldEntry> entries) {
    FleetState state;
    for (FoldEntry& entry : entries) {
      entry.sequence = state.position + 1;
      EXPECT_EQ(Fold(state, entry), FoldVerdict::kCounted);
    }
    const FleetJob& job = state.jobs.begin()->second;
    return std::pair(job.epoch, job.begun);
  };
  FoldEntry again = Claim(2, "n1");
  std::get<ClaimSaid>(again.said).goes_on = true;
  EXPECT_EQ(begun({Request(), Claim(1, "n1"), again}), std::pair(2U, 1U));
  EXPECT_EQ(begun({Request(), Claim(1, "n1"), again, Claim(3, "n2")}), std::pair(3U, 3U));
  // Nothing of it is left: of another's, or of what was given back.
  EXPECT_EQ(begun({Request(), Claim(1, "n2"), again}), std::pair(2U, 2U));
  EXPECT_EQ(begun({Request(), Claim(1, "n1"), Finish(1, "n1", kBack), again}), std::pair(2U, 2U));
}

// So that a node that has forgotten and one that has not come to the same.
TEST(LogFold, WhatIsForgottenIsJudgedAsBefore) {
  for (const FinishKind kind : {kDone, kBroke}) {
    FleetState kept;
    for (FoldEntry entry : {Bind(1, "a"), Request(), Claim(1, "n1"), Finish(1, "n1", kind)}) {
      entry.sequence = kept.position + 1;
      ASSERT_EQ(Fold(kept, entry), FoldVerdict::kCounted);
    }
    FleetState forgotten = kept;
    Forget(forgotten, {"t", "a"});
    EXPECT_TRUE(forgotten.jobs.empty());
    for (FoldEntry entry :
         {Request(), Claim(2, "n2"), Finish(1, "n1", kDone), Wish(), Bind(2, "b"), Bind(3, "c")}) {
      entry.sequence = kept.position + 1;
      EXPECT_STREQ(NameOf(Fold(forgotten, entry)), NameOf(Fold(kept, entry)));
    }
    EXPECT_EQ(forgotten.bindings, kept.bindings);
  }
}

TEST(LogFold, NamesEveryVerdict) {
  EXPECT_STREQ(NameOf(FoldVerdict::kCounted), "counted");
  EXPECT_STREQ(NameOf(FoldVerdict::kOld), "old");
  EXPECT_FALSE(IsVoid(FoldVerdict::kCounted));
  EXPECT_FALSE(IsVoid(FoldVerdict::kOld));
  EXPECT_TRUE(IsVoid(FoldVerdict::kUnreadable));
}

}  // namespace
}  // namespace reel::front
