// SPDX-License-Identifier: Apache-2.0
// An engine's report of a job's time and energy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/worker/engine/inbox.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"
#include "tests/unit/server/worker/engine/fake_timer.h"

namespace reel::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::map<model::RunPart, absl::Duration> PartsOf(const model::RunStats& stats) {
  std::map<model::RunPart, absl::Duration> parts;
  for (const model::PartTime& part : stats.parts) parts[part.part] = part.time;
  return parts;
}

TEST_F(EngineTest, TimesOneStepInManyButNeverTheFirst) {
  FakeTimer timer;
  options_.timer = &timer;
  options_.kernel_sample_every = 4;
  model::GenerationSpec spec = Spec("fox");
  spec.num_inference_steps = 10;
  engine().Post(Job("a", spec));
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  const auto steps = events_.steps();
  ASSERT_THAT(steps, SizeIs(10));
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].kernels.size(), i == 1 || i == 5 || i == 9 ? 1u : 0u) << i;
  }
  const auto stats = events_.ended("a").result.stats.kernel_stats;
  ASSERT_THAT(stats, SizeIs(1));
  EXPECT_EQ(stats[0].total_ns, 3000);
  Stop();
}

TEST_F(EngineTest, EveryJobHasATimedStepTextAndDecode) {
  FakeTimer timer;
  options_.timer = &timer;
  for (const char* job : {"a", "b", "c", "d", "e"}) Assign(job);
  Start();
  for (const char* job : {"a", "b", "c", "d", "e"}) {
    ASSERT_TRUE(events_.WaitForEnd(job));
    EXPECT_THAT(events_.ended(job).result.stats.kernel_stats, SizeIs(1)) << job;
    for (const model::Stage stage : {model::Stage::kTextEncode, model::Stage::kDecode}) {
      EXPECT_GT(events_.timed_pieces(job, stage), 0) << job;
    }
  }
  // Together: one of their shared steps was enough.
  int timed = 0;
  for (const StepSample& step : events_.steps()) timed += step.kernels.empty() ? 0 : 1;
  EXPECT_LT(timed, 5);
  Stop();
}

TEST_F(EngineTest, TellsWhereTheTimeOfAJobWent) {
  FakeTimer timer;
  options_.timer = &timer;
  test_card_.step_time = absl::Milliseconds(20);
  model::GenerationSpec spec = Spec("fox");
  spec.preview = {2, 32};
  engine().Post(Job("a", spec));
  engine().Post(Job("b", Spec("hen")));
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  const model::RunStats stats = events_.ended("a").result.stats;
  const auto parts = PartsOf(stats);
  EXPECT_GE(parts.at(model::RunPart::kDenoise), absl::Milliseconds(80));
  EXPECT_GT(parts.at(model::RunPart::kPreview), absl::ZeroDuration());
  std::vector<int> steps;
  int timed = 0;
  for (const model::PartSpan& span : stats.spans) {
    if (span.part != model::RunPart::kDenoise) continue;
    steps.push_back(span.step);
    EXPECT_EQ(span.jobs, 2);
    timed += span.timed ? 1 : 0;
  }
  EXPECT_THAT(steps, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(timed, stats.timed_steps);
  EXPECT_EQ(timed, 1);
  Stop();
}

TEST_F(EngineTest, SoundIsAPartOfItsOwnBetweenStepsAndFrames) {
  test_card_.sound = true;
  model::GenerationSpec spec = Spec("fox");
  spec.sound = true;
  engine().Post(Job("a", spec));
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  ASSERT_TRUE(events_.ended("a").error.ok()) << events_.ended("a").error;
  const model::RunStats stats = events_.ended("a").result.stats;
  const auto parts = PartsOf(stats);
  EXPECT_GT(parts.at(model::RunPart::kSound), absl::ZeroDuration());
  EXPECT_GT(stats.sound_decode, absl::ZeroDuration());
  EXPECT_GE(absl::Seconds(stats.device_seconds) + absl::Nanoseconds(1),
            stats.text_encode + stats.denoise + stats.sound_decode + stats.decode);
  std::vector<model::RunPart> order;
  for (const model::PartSpan& span : stats.spans) {
    if (order.empty() || order.back() != span.part) order.push_back(span.part);
  }
  const auto sound = std::find(order.begin(), order.end(), model::RunPart::kSound);
  ASSERT_NE(sound, order.end());
  EXPECT_EQ(*std::prev(sound), model::RunPart::kDenoise);
  EXPECT_EQ(*std::next(sound), model::RunPart::kDecode);
  Stop();
}

TEST_F(EngineTest, SoundIsMeasuredAndBroughtToTheLoudnessOfItsRequest) {
  test_card_.sound = true;
  model::GenerationSpec spec = Spec("fox");
  spec.sound = true;
  spec.num_frames = 25;
  engine().Post(Job("as it is", spec));
  spec.normalise_loudness = -30;
  engine().Post(Job("quiet", spec));
  Start();
  ASSERT_TRUE(events_.WaitForEnd("as it is") && events_.WaitForEnd("quiet"));
  const auto sound = [this](const std::string& job) {
    return events_.ended(job).result.stats.sound;
  };
  ASSERT_TRUE(sound("as it is") && sound("quiet"));
  EXPECT_GT(*sound("as it is")->loudness_lufs, -20);
  EXPECT_NEAR(*sound("quiet")->loudness_lufs, -30, 0.01);
  Stop();
}

TEST_F(EngineTest, ASilentVideoHasNoSoundPart) {
  test_card_.sound = true;
  model::GenerationSpec spec = Spec("fox");
  spec.sound = false;
  engine().Post(Job("a", spec));
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  const model::RunStats stats = events_.ended("a").result.stats;
  EXPECT_EQ(PartsOf(stats).count(model::RunPart::kSound), 0u);
  EXPECT_EQ(stats.sound_decode, absl::ZeroDuration());
  EXPECT_EQ(stats.sound, std::nullopt);
  Stop();
}

// The clock that has every moment once is read just before a stage's and just after it, also where
// steps are shared and previews are made between them.
TEST_F(EngineTest, PartsOfAJobAreItsStages) {
  test_card_.step_time = absl::Milliseconds(20);
  model::GenerationSpec spec = Spec("fox");
  spec.preview = {2, 32};
  // Where the engine's thread is stopped between the two, they differ by that; not in every video.
  constexpr int kVideos = 5;
  absl::Duration farthest = absl::InfiniteDuration();
  for (int i = 0; i < kVideos && farthest > absl::Milliseconds(5); ++i) {
    const std::string job = absl::StrCat("fox-", i), other = absl::StrCat("hen-", i);
    engine().Post(Job(job, spec));
    Assign(other);
    if (i == 0) Start();
    ASSERT_TRUE(events_.WaitForEnd(job));
    ASSERT_TRUE(events_.WaitForEnd(other));
    const model::RunStats stats = events_.ended(job).result.stats;
    const auto parts = PartsOf(stats);
    farthest = absl::ZeroDuration();
    for (const auto& [part, stage] : {std::pair(model::RunPart::kText, stats.text_encode),
                                      std::pair(model::RunPart::kDenoise, stats.denoise),
                                      std::pair(model::RunPart::kDecode, stats.decode)}) {
      EXPECT_GE(parts.at(part), stage);
      farthest = std::max(farthest, parts.at(part) - stage);
    }
  }
  EXPECT_LE(farthest, absl::Milliseconds(5));
}

TEST_F(EngineTest, TheHeartbeatSeesAStepUnderWay) {
  test_card_.step_time = absl::Milliseconds(300);
  options_.long_step = absl::InfiniteDuration();
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForStep("a", 1));
  const absl::Time end = absl::Now() + absl::Seconds(30);
  absl::Duration longest;
  while (longest < absl::Milliseconds(100) && absl::Now() < end) {
    longest = std::max(longest, engine().in_step());
    std::this_thread::yield();
  }
  EXPECT_GE(longest, absl::Milliseconds(100));
  ASSERT_TRUE(events_.WaitForEnd("a"));
}

TEST_F(EngineTest, AVideosEnergyIsThatOfItsDeviceTime) {
  // A device that takes 500 W, whatever it does: a millijoule each two microseconds.
  options_.read_energy = [] {
    return std::optional<int64_t>(absl::ToInt64Microseconds(SteadyNow() - absl::UnixEpoch()) / 2);
  };
  test_card_.step_time = absl::Milliseconds(40);
  // This counter never rests. Where the engine's thread is stopped between its look at the clock
  // and its look at the counter, that is read late; not with every pair of videos.
  constexpr int kPairs = 5;
  double farthest = std::numeric_limits<double>::infinity();
  for (int pair = 0; pair < kPairs && farthest > 0.01; ++pair) {
    const std::vector<std::string> jobs = {absl::StrCat("a", pair), absl::StrCat("b", pair)};
    const absl::Time start = SteadyNow();
    for (const std::string& job : jobs) Assign(job);
    if (pair == 0) Start();
    double joules = 0;
    farthest = 0;
    for (const std::string& job : jobs) {
      ASSERT_TRUE(events_.WaitForEnd(job));
      const model::RunStats stats = events_.ended(job).result.stats;
      ASSERT_TRUE(stats.energy_joules.has_value());
      farthest = std::max(farthest, std::abs(*stats.energy_joules - 500 * stats.device_seconds));
      joules += *stats.energy_joules;
    }
    EXPECT_GE(joules, 4 * 0.04 * 500 - 1);
    EXPECT_LE(joules, 500 * absl::ToDoubleSeconds(SteadyNow() - start));
  }
  EXPECT_LE(farthest, 0.01);
}

TEST_F(EngineTest, OfADeviceThatTellsNoEnergyAVideoHasNone) {
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_FALSE(events_.ended("a").result.stats.energy_joules.has_value());
}

}  // namespace
}  // namespace reel::worker
