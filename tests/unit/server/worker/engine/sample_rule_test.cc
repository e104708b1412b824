// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/sample_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reel::worker {
namespace {

absl::Time RuleTime(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

// One job alone on a device: the numbers, from 0, of its steps that are timed.
std::vector<int> TimedStepsOfAJob(SampleRule& rule, int steps, double start, double step_seconds) {
  std::vector<int> timed;
  for (int i = 0; i < steps; ++i) {
    const bool owed = i > 0 && timed.empty();
    const SampleRule::Step step = {
        .is_first_of_one = i == 0, .is_owed = owed, .is_last_chance = owed && i == steps - 1};
    if (rule.TakeStep(step, RuleTime(start + i * step_seconds))) timed.push_back(i);
  }
  return timed;
}

struct RuleCase {
  std::string name;
  int every;
  double distance;        // seconds
  std::vector<int> jobs;  // steps of each, one after the other, a step a second
  std::vector<std::vector<int>> timed;
};

const RuleCase kRuleCases[] = {
    {"a job of one step has none to time", 32, 0, {1}, {{}}},
    {"a job of two steps", 32, 0, {2}, {{1}}},
    {"jobs of 30 steps, one each", 32, 0, {30, 30, 30}, {{1}, {1}, {1}}},
    {"one in 32 of a long job", 32, 0, {70}, {{1, 33, 65}}},
    {"counted across jobs", 4, 0, {4, 6}, {{1}, {1, 5}}},
    {"a count on a first step stays due", 2, 0, {1, 1, 1, 3}, {{}, {}, {}, {1}}},
    {"every step but the first", 1, 0, {4}, {{1, 2, 3}}},
    {"never", 0, 0, {40}, {{}}},
    {"not closer than the distance", 1, 3, {8}, {{1, 4, 7}}},
    {"closer only where a job would have none", 32, 100, {3, 3}, {{1}, {2}}},
};

TEST(SampleRule, TimesTheStepsOfItsTable) {
  for (const RuleCase& c : kRuleCases) {
    SampleRule rule({.every = c.every, .distance = absl::Seconds(c.distance)});
    double start = 0;
    for (size_t job = 0; job < c.jobs.size(); ++job) {
      EXPECT_EQ(TimedStepsOfAJob(rule, c.jobs[job], start, 1), c.timed[job])
          << c.name << ", job " << job;
      start += c.jobs[job];
    }
  }
}

TEST(SampleRule, EveryJobOfTwoStepsHasOneHoweverFastTheDevice) {
  SampleRule rule({.every = 32, .distance = absl::Seconds(1)});
  for (int job = 0; job < 200; ++job) {
    const int steps = 2 + job % 7;
    EXPECT_THAT(TimedStepsOfAJob(rule, steps, 0.01 * job, 0.001), ::testing::SizeIs(1)) << job;
  }
}

TEST(SampleRule, AFirstStepIsTimedOnlyForAnotherJobsLastChance) {
  SampleRule rule({.every = 1, .distance = absl::ZeroDuration()});
  EXPECT_FALSE(rule.TakeStep({.is_first_of_one = true}, RuleTime(0)));
  EXPECT_FALSE(rule.TakeStep({.is_first_of_one = true, .is_owed = true}, RuleTime(1)));
  EXPECT_TRUE(rule.TakeStep({true, true, true}, RuleTime(2)));
}

TEST(SampleRule, TextsAndDecodesAreTimedAsOftenAsTheDistanceAllows) {
  SampleRule host({.every = 32, .distance = absl::ZeroDuration()});
  SampleRule device({.every = 32, .distance = absl::Seconds(1)});
  int timed = 0;
  for (int i = 0; i <= 40; ++i) {
    EXPECT_TRUE(host.TakeStage(RuleTime(0.25 * i))) << i;
    timed += device.TakeStage(RuleTime(0.25 * i)) ? 1 : 0;
  }
  EXPECT_EQ(timed, 11);  // the first, then one a second for ten
  // Steps and stages share the distance.
  EXPECT_FALSE(device.TakeStep({.is_owed = true}, RuleTime(10.5)));
  EXPECT_TRUE(device.TakeStep({.is_owed = true}, RuleTime(11)));
  EXPECT_FALSE(device.TakeStage(RuleTime(11.5)));
  SampleRule never({.every = 0, .distance = absl::ZeroDuration()});
  EXPECT_FALSE(never.TakeStage(RuleTime(0)));
}

}  // namespace
}  // namespace reel::worker
