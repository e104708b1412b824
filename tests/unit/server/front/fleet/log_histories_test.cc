// SPDX-License-Identifier: Apache-2.0
// Random histories of a log, read by many nodes in every way in which one can be read.
#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/fleet/log_fold.h"
#include "tests/fakes/memory_records.h"
#include "tests/unit/server/front/fleet/fold_entries.h"
#include "tests/unit/server/front/fleet/random_history.h"

namespace reel::front {
namespace {

using reel::testing::Fold;

FleetState ReadInOrder(const History& history) {
  FleetState state;
  for (const FoldEntry& entry : history) Fold(state, entry);
  return state;
}

// Reads as a node does that is cut off, hears twice, falls back, or loses its view. It never reads
// past a message that it has not read: that is what the tail of the log is for.
FleetState ReadBadly(const History& history, Random& random) {
  FleetState state;
  FleetState kept;
  size_t next = 0;  // the first that it has not read
  size_t kept_next = 0;
  while (next < history.size()) {
    switch (Below(random, 12)) {
      case 0: {  // again, from anywhere before
        reel::testing::MemoryRecords records(state);
        ViewBatch batch(records, state.position);
        bool all_old = true;
        for (size_t i = Below(random, next + 1); i < next; ++i) {
          all_old &= batch.Fold(history[i]) == FoldVerdict::kOld;
        }
        EXPECT_TRUE(all_old);
        break;
      }
      case 1:  // one from long ago, late
        if (next > 0) {
          EXPECT_EQ(Fold(state, history[Below(random, next)]), FoldVerdict::kOld);
        }
        break;
      case 2:
        kept = state;
        kept_next = next;
        break;
      case 3:  // a crash: back to what was stored
        if (Below(random, 8) == 0) {
          state = kept;
          next = kept_next;
        }
        break;
      case 4:  // the view is deleted
        if (Below(random, 40) == 0) {
          state = {};
          next = 0;
        }
        break;
      default:
        Fold(state, history[next++]);
    }
  }
  return state;
}

// A request id stands for another video only when the last one came and ended without a result.
void CheckBinding(const FleetState& before, const FoldEntry& entry) {
  const auto bound = before.bindings.find({entry.subject.tenant, entry.subject.id});
  if (bound == before.bindings.end()) {
    ASSERT_EQ(entry.subject.epoch, 1U);
    return;
  }
  ASSERT_EQ(entry.subject.epoch, bound->second.number + 1);
  const FleetJob& job = before.jobs.at({entry.subject.tenant, bound->second.video});
  ASSERT_TRUE(HasEnded(job.phase)) << "a live video lost its request id";
  ASSERT_NE(job.phase, FleetPhase::kSucceeded) << "a request would be rendered twice";
}

// A request brings all its videos, and changes none that was there before.
void CheckOthers(const FleetState& before, const FleetState& state, const FoldEntry& entry,
                 const RequestSaid& request) {
  for (const OtherSaid& other : request.others) {
    const FleetState::Key key{entry.subject.tenant, other.id};
    const auto known = before.jobs.find(key);
    ASSERT_TRUE(state.jobs.contains(key)) << "half a request";
    if (known != before.jobs.end()) {
      ASSERT_EQ(state.jobs.at(key), known->second);
    } else {
      ASSERT_EQ(state.jobs.at(key).requested, entry.sequence);
    }
  }
}

// What must hold of any history, told by the verdicts alone.
void CheckRules(const History& history) {
  FleetState state, before;  // the second is one entry behind
  const FoldEntry* last = nullptr;
  std::set<std::string> requested, claimed, finished, ended, deleted;
  for (const FoldEntry& entry : history) {
    if (last != nullptr) Fold(before, *last);
    last = &entry;
    const FoldVerdict verdict = Fold(state, entry);
    ASSERT_NE(verdict, FoldVerdict::kOld);
    if (IsVoid(verdict)) {
      ASSERT_EQ(state.jobs, before.jobs);
      ASSERT_EQ(state.bindings, before.bindings);
      continue;
    }
    if (std::holds_alternative<BindingSaid>(entry.said)) {
      ASSERT_NO_FATAL_FAILURE(CheckBinding(before, entry));
      continue;
    }
    const std::string video = absl::StrCat(entry.subject.tenant, "/", entry.subject.id);
    const std::string epoch = absl::StrCat(video, "/", entry.subject.epoch);
    const bool deletes = std::holds_alternative<DeleteSaid>(entry.said);
    ASSERT_EQ(ended.contains(video), deletes) << "something counted after the end";
    if (deletes) {
      ASSERT_TRUE(deleted.insert(video).second) << "a video was deleted twice";
    }
    const FleetJob& job = state.jobs.at({entry.subject.tenant, entry.subject.id});
    if (const auto* const request = std::get_if<RequestSaid>(&entry.said)) {
      ASSERT_TRUE(requested.insert(video).second) << "a video was made twice";
      ASSERT_NO_FATAL_FAILURE(CheckOthers(before, state, entry, *request));
      for (const OtherSaid& other : request->others) {
        requested.insert(absl::StrCat(entry.subject.tenant, "/", other.id));
      }
    } else {
      ASSERT_TRUE(requested.contains(video));
    }
    if (const auto* const claim = std::get_if<ClaimSaid>(&entry.said)) {
      ASSERT_TRUE(claimed.insert(epoch).second) << "an epoch was won twice";
      ASSERT_EQ(job.owner, claim->node);
    }
    if (const auto* const finish = std::get_if<FinishSaid>(&entry.said)) {
      ASSERT_TRUE(claimed.contains(epoch)) << "an epoch ended that nobody had";
      ASSERT_TRUE(finished.insert(epoch).second) << "an epoch ended twice";
      ASSERT_EQ(job.owner, finish->node) << "an epoch was ended by another";
    }
    if (HasEnded(job.phase)) ended.insert(video);
  }
}

// The same history without void messages, which must leave no trace. Adds the valid ones to
// `counted`.
FleetState ReadWhatCounts(const History& history, size_t& counted) {
  FleetState judge, state;
  for (const FoldEntry& entry : history) {
    if (Fold(judge, entry) != FoldVerdict::kCounted) continue;
    EXPECT_EQ(Fold(state, entry), FoldVerdict::kCounted);
    ++counted;
  }
  return state;
}

TEST(LogHistories, EndInOneStateHoweverTheyAreRead) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  size_t counted = 0, entries = 0;
  for (int i = 0; i < 800; ++i) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", history ", i));
    const History history = RandomHistory(random);
    const FleetState state = ReadInOrder(history);
    ASSERT_NO_FATAL_FAILURE(CheckRules(history));
    for (int node = 0; node < 4; ++node) ASSERT_EQ(ReadBadly(history, random), state);
    const FleetState counting = ReadWhatCounts(history, counted);
    ASSERT_EQ(counting.jobs, state.jobs);
    ASSERT_EQ(counting.bindings, state.bindings);
    entries += history.size();
  }
  // Of both there was enough to find something.
  EXPECT_GT(counted, entries / 20);
  EXPECT_LT(counted, entries / 2);
}

TEST(LogHistories, CountsByNodeHowOftenADiskTookNoResult) {
  FleetState state;
  FoldEntry full = Finish(2, "n2", kBack);
  std::get<FinishSaid>(full.said).no_room = true;
  for (FoldEntry entry :
       {Request(), Claim(1, "n1"), Finish(1, "n1", kBack), Claim(2, "n2"), full}) {
    entry.sequence = state.position + 1;
    EXPECT_EQ(Fold(state, entry), FoldVerdict::kCounted);
  }
  const FleetJob& job = state.jobs.at({"t", "a"});
  EXPECT_EQ(job.phase, FleetPhase::kQueued);
  EXPECT_EQ(job.no_room, (std::map<std::string, int>{{"n2", 1}}));
}

}  // namespace
}  // namespace reel::front
