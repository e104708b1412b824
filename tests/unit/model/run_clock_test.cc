// SPDX-License-Identifier: Apache-2.0
#include "model/run_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace reel::model {
namespace {

absl::Duration ClockAt(int ms) { return absl::Hours(5) + absl::Milliseconds(ms); }

std::map<RunPart, int> PartsOf(const RunClock& clock, int ms) {
  std::map<RunPart, int> parts;
  for (const PartTime& part : clock.Parts(ClockAt(ms))) {
    parts[part.part] = static_cast<int>(absl::ToInt64Milliseconds(part.time));
  }
  return parts;
}

TEST(RunClock, EveryMomentIsInOnePart) {
  RunClock clock;
  EXPECT_TRUE(clock.Parts(ClockAt(7)).empty());
  EXPECT_TRUE(clock.Spans(ClockAt(7)).empty());
  clock.Enter(RunPart::kAccept, ClockAt(0));
  clock.Enter(RunPart::kQueue, ClockAt(2));
  clock.Enter(RunPart::kWait, ClockAt(5));
  clock.Enter(RunPart::kDenoise, ClockAt(6), {.step = 1, .jobs = 1});
  clock.Enter(RunPart::kWait, ClockAt(10));
  clock.Enter(RunPart::kDenoise, ClockAt(11), {.step = 2, .jobs = 3, .timed = true});
  const std::map<RunPart, int> parts = {
      {RunPart::kAccept, 2}, {RunPart::kQueue, 3}, {RunPart::kWait, 2}, {RunPart::kDenoise, 4 + 9}};
  EXPECT_EQ(PartsOf(clock, 20), parts);
}

TEST(RunClock, SpansAreInTheOrderOfTimeAndLeaveWaitingOut) {
  RunClock clock;
  clock.Enter(RunPart::kQueue, ClockAt(0));
  clock.Enter(RunPart::kQueue, ClockAt(1));
  clock.Enter(RunPart::kWait, ClockAt(3));
  for (int step = 1; step <= 2; ++step) {
    clock.Enter(RunPart::kDenoise, ClockAt(3 + step), {.step = step, .jobs = 2, .timed = step > 1});
  }
  const auto spans = clock.Spans(ClockAt(9));
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].part, RunPart::kQueue);
  EXPECT_EQ(spans[0].duration, absl::Milliseconds(3));
  EXPECT_EQ(spans[1].start, absl::Milliseconds(4));
  EXPECT_EQ(spans[2].start, absl::Milliseconds(5));
  EXPECT_EQ(spans[2].duration, absl::Milliseconds(4));
  EXPECT_EQ(spans[2].step, 2);
  EXPECT_EQ(spans[2].jobs, 2);
  EXPECT_TRUE(spans[2].timed);
}

TEST(RunClock, WhatTheWorkerTellsReplacesWhatWasSeenOfIt) {
  RunClock clock;
  clock.Enter(RunPart::kQueue, ClockAt(0));
  clock.Enter(RunPart::kHandover, ClockAt(10));
  clock.Enter(RunPart::kDenoise, ClockAt(12));
  clock.Enter(RunPart::kFile, ClockAt(40));
  clock.Detail(
      {{RunPart::kText, absl::Milliseconds(5)}, {RunPart::kDenoise, absl::Milliseconds(21)}},
      {{RunPart::kDenoise, absl::Milliseconds(6), absl::Milliseconds(21), 1, 1}});
  const std::map<RunPart, int> parts = {{RunPart::kQueue, 10},
                                        {RunPart::kHandover, 4},
                                        {RunPart::kText, 5},
                                        {RunPart::kDenoise, 21},
                                        {RunPart::kFile, 2}};
  EXPECT_EQ(PartsOf(clock, 42), parts);
  const auto spans = clock.Spans(ClockAt(42));
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[1].part, RunPart::kDenoise);
  EXPECT_EQ(spans[1].start, absl::Milliseconds(16));
  EXPECT_EQ(spans[2].part, RunPart::kFile);
}

TEST(RunClock, AWorkerThatTellsNothingLeavesWhatWasSeen) {
  RunClock clock;
  clock.Enter(RunPart::kDenoise, ClockAt(0));
  clock.Enter(RunPart::kFile, ClockAt(4));
  clock.Detail({}, {});
  const std::map<RunPart, int> parts = {{RunPart::kDenoise, 4}, {RunPart::kFile, 1}};
  EXPECT_EQ(PartsOf(clock, 5), parts);
}

TEST(RunClock, ALostAttemptIsOnePartAndTheNextOneIsToldAlone) {
  RunClock clock;
  clock.Enter(RunPart::kQueue, ClockAt(0));
  clock.LoseAttempt(ClockAt(1));  // nothing to lose
  clock.Enter(RunPart::kHandover, ClockAt(2));
  clock.Enter(RunPart::kDenoise, ClockAt(3));
  clock.LoseAttempt(ClockAt(8));
  clock.Enter(RunPart::kQueue, ClockAt(9));
  clock.Enter(RunPart::kHandover, ClockAt(10));
  clock.Enter(RunPart::kFile, ClockAt(30));
  clock.Detail({{RunPart::kDenoise, absl::Milliseconds(19)}}, {});
  const std::map<RunPart, int> parts = {{RunPart::kQueue, 3},
                                        {RunPart::kLost, 6 + 1},
                                        {RunPart::kHandover, 1},
                                        {RunPart::kDenoise, 19},
                                        {RunPart::kFile, 1}};
  EXPECT_EQ(PartsOf(clock, 31), parts);
  // The lost attempt, with the storing of it, is one span.
  EXPECT_EQ(clock.Spans(ClockAt(31)).at(1).duration, absl::Milliseconds(7));
}

TEST(RunClock, AVeryLongRunKeepsItsFirstSpansAndAllOfItsTime) {
  RunClock clock;
  for (int i = 0; i < 2000; ++i) {
    clock.Enter(RunPart::kDenoise, ClockAt(i), {.step = i + 1, .jobs = 1});
  }
  EXPECT_LE(clock.Spans(ClockAt(2000)).size(), 600u);
  EXPECT_EQ(PartsOf(clock, 2000).at(RunPart::kDenoise), 2000);
}

}  // namespace
}  // namespace reel::model
