// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>

#include "server/front/scheduling/planned_job.h"

namespace reel::front {
namespace {

constexpr std::initializer_list<Phase> kPhases = {
    Phase::kQueued, Phase::kFetching, Phase::kAssigned, Phase::kFinishing, Phase::kEnding};
constexpr std::initializer_list<JobEvent> kEvents = {
    JobEvent::kPlaced,   JobEvent::kSent,    JobEvent::kUnsent, JobEvent::kRestarted,
    JobEvent::kRendered, JobEvent::kSpoiled, JobEvent::kFailed, JobEvent::kEnded};

TEST(JobPhase, AVideoGoesItsWay) {
  Phase phase = Phase::kQueued;
  for (JobEvent event :
       {JobEvent::kPlaced, JobEvent::kSent, JobEvent::kRestarted, JobEvent::kPlaced,
        JobEvent::kUnsent, JobEvent::kPlaced, JobEvent::kSent, JobEvent::kRendered}) {
    const auto change = Next(phase, event);
    ASSERT_TRUE(change.has_value()) << static_cast<int>(event);
    EXPECT_EQ(change->release, Release::kNothing);
    phase = change->next;
  }
  EXPECT_EQ(phase, Phase::kFinishing);
}

TEST(JobPhase, NothingLeavesEnding) {
  for (JobEvent event : kEvents) {
    EXPECT_FALSE(Next(Phase::kEnding, event).has_value()) << static_cast<int>(event);
  }
}

TEST(JobPhase, WhatIsRenderedCanOnlyProveSpoiled) {
  for (JobEvent event : kEvents) {
    const auto change = Next(Phase::kFinishing, event);
    ASSERT_EQ(change.has_value(), event == JobEvent::kSpoiled) << static_cast<int>(event);
    if (change) {
      EXPECT_EQ(change->next, Phase::kEnding);
    }
  }
}

TEST(JobPhase, AnEndReleasesTheSlotAsTheWorkerKnowsOfIt) {
  EXPECT_EQ(Next(Phase::kQueued, JobEvent::kEnded)->release, Release::kNothing);
  EXPECT_EQ(Next(Phase::kFetching, JobEvent::kEnded)->release, Release::kTakeBack);
  EXPECT_EQ(Next(Phase::kAssigned, JobEvent::kEnded)->release, Release::kStop);
  EXPECT_EQ(Next(Phase::kAssigned, JobEvent::kFailed)->release, Release::kNothing);
}

TEST(JobPhase, NothingChangesWhatIsOnlyReserved) {
  for (JobEvent event : kEvents) {
    EXPECT_FALSE(Next(Phase::kReserved, event).has_value()) << static_cast<int>(event);
  }
}

TEST(JobPhase, EveryPhaseIsReachedAndEveryEventCounts) {
  std::set<Phase> reached = {Phase::kQueued};
  std::set<JobEvent> counted;
  for (Phase phase : kPhases) {
    for (JobEvent event : kEvents) {
      const auto change = Next(phase, event);
      if (!change) continue;
      reached.insert(change->next);
      counted.insert(event);
    }
  }
  EXPECT_EQ(reached.size(), kPhases.size());
  EXPECT_EQ(counted.size(), kEvents.size());
}

}  // namespace
}  // namespace reel::front
