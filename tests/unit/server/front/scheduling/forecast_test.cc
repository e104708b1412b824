// SPDX-License-Identifier: Apache-2.0
// Tests the forecast by videos that are played to their ends: what is told of a wait comes true,
// and what is admitted is in time.
#include "server/front/scheduling/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/scheduling/simulator.h"

namespace reel::front {
namespace {

class ForecastTest : public ::testing::Test {
 protected:
  ForecastTest() { sim_.AddWorker("w"); }
  // Of ten steps.
  static SimulatedVideo Video(const std::string& id, double seconds, absl::Duration timeout) {
    return {.id = id, .step_seconds = seconds / 10, .timeout = timeout};
  }
  void Later(absl::Duration by) { sim_.RunUntil(sim_.now() + by); }
  static SimulatedVideo Of(const std::string& tenant, SimulatedVideo video) {
    video.tenant = tenant;
    return video;
  }
  // For nine of the ten seconds of its video, which nobody may park.
  void LetFloodRun() {
    sim_.SetWeight("other", 100);
    ASSERT_TRUE(sim_.Submit(Of("flood", Video("first", 10, absl::Seconds(12)))));
    Later(absl::Seconds(9));
  }
  // One that nobody may park runs for ten seconds, then "waits" would, which just meets its
  // deadline.
  void MakeBusy(const std::string& tenant, Priority priority = Priority::kNormal) {
    SimulatedVideo first = Video("first", 10, absl::Seconds(12));
    SimulatedVideo waits = Video("waits", 10, absl::Seconds(22));
    first.tenant = waits.tenant = tenant;
    waits.priority = priority;
    first.priority = Priority::kHigh;
    ASSERT_TRUE(sim_.Submit(first));
    ASSERT_TRUE(sim_.Submit(waits));
  }

  Simulator sim_;
};

TEST_F(ForecastTest, AShortVideoWithLittleTimePassesThreeLongOnesOfItsTenant) {
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(sim_.Submit(Video(id, 24, absl::Minutes(2))));
  }
  Later(absl::Seconds(5));
  ASSERT_TRUE(sim_.Submit(Video("short", 1, absl::Seconds(5))));
  sim_.Run();
  for (const auto& [id, end] : sim_.ends()) EXPECT_TRUE(end.in_time) << id;
}

TEST_F(ForecastTest, NoVideoIsTakenAtTheCostOfAnotherOfItsTenant) {
  MakeBusy("t");
  EXPECT_FALSE(sim_.Submit(Video("urgent", 5, absl::Seconds(16.4))));
  EXPECT_TRUE(sim_.EndOf("urgent").makes_late);
  EXPECT_TRUE(sim_.Submit(Video("patient", 5, absl::Seconds(30))));
  sim_.Run();
  EXPECT_TRUE(sim_.EndOf("waits").in_time);
  EXPECT_TRUE(sim_.EndOf("patient").in_time);
}

TEST_F(ForecastTest, NobodyIsHeldOutByLessPriority) {
  MakeBusy("t");
  SimulatedVideo high = Video("high", 5, absl::Seconds(16.4));
  high.priority = Priority::kHigh;
  EXPECT_TRUE(sim_.Submit(high));
}

TEST_F(ForecastTest, NobodyIsHeldOutByATenantThatHasHadMore) {
  MakeBusy("flood");
  Later(absl::Seconds(6));
  SimulatedVideo urgent = Video("urgent", 5, absl::Seconds(11));
  urgent.tenant = "other";
  EXPECT_TRUE(sim_.Submit(urgent));
  sim_.Run();
  EXPECT_TRUE(sim_.EndOf("urgent").in_time);
}

TEST_F(ForecastTest, AnAdmittedVideoIsInTimeThoughATenantThatHasHadLessComesLater) {
  LetFloodRun();
  ASSERT_TRUE(sim_.Submit(Of("flood", Video("promised", 2, absl::Seconds(12)))));
  ASSERT_TRUE(sim_.Submit(Of("other", Video("later", 20, absl::Minutes(10)))));
  Later(absl::Seconds(1.2));
  EXPECT_EQ(sim_.began().back(), "later");  // it has had less
  sim_.Run();
  EXPECT_TRUE(sim_.EndOf("promised").in_time);
  EXPECT_EQ(sim_.EndOf("later").preemptions, 1);
}

TEST_F(ForecastTest, NobodyIsAdmittedByParkingATenantThatHasHadLess) {
  LetFloodRun();
  ASSERT_TRUE(sim_.Submit(Of("other", Video("other", 20, absl::Minutes(10)))));
  Later(absl::Seconds(2));
  EXPECT_FALSE(sim_.Submit(Of("flood", Video("urgent", 2, absl::Seconds(5)))));
}

TEST_F(ForecastTest, APositionCountsThoseThatWaitBefore) {
  for (int i = 0; i < 5; ++i) sim_.Submit(Video(absl::StrCat("v", i), 10, absl::Minutes(10)));
  const auto all = Foresee(sim_.Now(), sim_.now());
  ASSERT_EQ(all.size(), 4U);  // one runs, one is held
  EXPECT_EQ(all[1].position, 0);
  EXPECT_EQ(all[3].position, 2);
  EXPECT_LT(all[2].wait, all[3].wait);
}

TEST_F(ForecastTest, InArrivalOrderAVideoWaitsForAllBeforeIt) {
  JobOptions options;
  options.fifo = true;
  Simulator fifo(options);
  fifo.AddWorker("w");
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(fifo.Submit(Video(id, 24, absl::Minutes(2))));
  EXPECT_FALSE(fifo.Submit(Video("short", 1, absl::Seconds(5))));
  EXPECT_FALSE(fifo.EndOf("short").makes_late);
}

struct WaitCase {
  double gain;  // of the group over a single device
  int singles, queued;
  bool sizes_mixed = false;
};

class WaitTest : public ::testing::TestWithParam<WaitCase> {};

TEST_P(WaitTest, IsQuotedAsItComes) {
  const auto [gain, singles, queued, sizes_mixed] = GetParam();
  Simulator sim;
  for (int i = 0; i < singles; ++i) sim.AddWorker(absl::StrCat("single", i), "cuda:2 H");
  if (gain > 0) sim.AddWorker("group", "cuda:0+cuda:1 2 x H", gain);
  const auto submit = [&](const std::string& id, double step) {
    sim.Submit({.id = id, .step_seconds = step, .timeout = absl::Hours(10)});
  };
  for (int i = 0; i < queued; ++i) {
    submit(absl::StrCat("v", 100 + i), sizes_mixed && i % 3 != 0 ? 0.19 : 1.9);
  }
  const auto ended = [&] { return static_cast<size_t>(queued) - sim.num_live(); };
  while (ended() < 4) sim.RunUntil(sim.now() + absl::Milliseconds(100));
  submit("probe", 1.9);
  sim.Run();
  const SimulatedEnd& probe = sim.EndOf("probe");
  EXPECT_NEAR(absl::FDivDuration(probe.quoted, probe.began - probe.came), 1, 0.15);
}

INSTANTIATE_TEST_SUITE_P(Pools, WaitTest,
                         ::testing::Values(WaitCase{0, 1, 10}, WaitCase{0, 3, 31},
                                           WaitCase{2, 2, 24}, WaitCase{2, 2, 60},
                                           WaitCase{3.5, 3, 40}, WaitCase{1.9, 1, 30},
                                           WaitCase{2, 2, 60, true}));

// The group makes four videos in the time of one.
TEST(Forecast, APoolTakesAsLongAsTheTimeOfItsAverageWorkers) {
  constexpr double kStep = 1.9;
  Simulator sim;
  for (const char* name : {"a", "b"}) sim.AddWorker(name, "cuda:2 H");
  sim.AddWorker("group", "cuda:0+cuda:1 2 x H", 4);
  const auto waiting = [&] {
    absl::Duration sum;
    for (const PlannedJob* job : sim.Now().jobs) sum += job->WorkerTime();
    return sum;
  };
  int taken = 0;
  for (absl::Duration one; waiting() + one <= 3 * absl::Minutes(1); one = waiting() / taken) {
    sim.Submit({.id = absl::StrCat(++taken), .step_seconds = kStep, .timeout = absl::Hours(10)});
  }
  sim.Run();
  EXPECT_GE(sim.now(), absl::Seconds(50));
  // The last one may be a single device's.
  EXPECT_LE(sim.now(), absl::Minutes(1) + 10 * absl::Seconds(kStep));
}

struct Promise {
  int tenants, workers;
  double load;      // over what the workers can do
  double may_miss;  // share of those that are admitted
};

class PromiseTest : public ::testing::TestWithParam<Promise> {
 protected:
  static constexpr int kVideos = 100, kSeeds = 5;
  // Runs of 2 to 20 s, each with one to six runs until its deadline.
  void Play(unsigned seed) {
    std::mt19937 random(seed);
    const auto draw = [&](double from, double to) {
      return std::uniform_real_distribution<double>(from, to)(random);
    };
    const double a_second = GetParam().load * GetParam().workers / 11;
    Simulator sim;
    for (int i = 0; i < GetParam().workers; ++i) sim.AddWorker(absl::StrCat("w", i));
    for (int i = 0; i < kVideos; ++i) {
      sim.RunUntil(sim.now() +
                   absl::Seconds(std::exponential_distribution<double>(a_second)(random)));
      const double run = std::round(10 * draw(2, 20)) / 10;
      sim.Submit({.id = absl::StrCat("v", i),
                  .tenant = absl::StrCat("t", i % GetParam().tenants),
                  .step_seconds = run / 10,
                  .timeout = absl::Seconds(run * draw(1, 6) + 1)});
    }
    sim.Run();
    for (const auto& [id, end] : sim.ends()) {
      admitted_ += end.refused ? 0 : 1;
      late_ += end.refused || end.in_time ? 0 : 1;
    }
  }

  int admitted_ = 0, late_ = 0;
};

TEST_P(PromiseTest, WhatIsAdmittedIsInTime) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) Play(seed);
  std::cout << "FIGURE " << GetParam().tenants << " tenants, " << GetParam().workers
            << " workers, load " << GetParam().load << ": " << admitted_ << " admitted, " << late_
            << " of them late\n";
  EXPECT_GE(admitted_, 100);
  EXPECT_LE(late_, GetParam().may_miss * admitted_);
}

// Who comes later of a tenant that has had less goes before those that were promised.
INSTANTIATE_TEST_SUITE_P(Loads, PromiseTest,
                         ::testing::Values(Promise{1, 1, 0.5, 0.002}, Promise{1, 1, 1, 0.002},
                                           Promise{1, 1, 2, 0.002}, Promise{1, 1, 5, 0.005},
                                           Promise{1, 4, 1, 0.002}, Promise{1, 4, 3, 0.05},
                                           Promise{3, 1, 1, 0.03}, Promise{3, 2, 3, 0.2}));

}  // namespace
}  // namespace reel::front
