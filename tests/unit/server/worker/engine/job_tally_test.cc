// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/job_tally.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

TEST(JobTally, SumsWhatAJobCost) {
  JobTally tally;
  tally.TextEncoded(absl::Seconds(1));
  tally.Stepped(absl::Seconds(2), 1, 1);
  tally.Stepped(absl::Seconds(2), 4, 0.25);
  tally.Previewed(absl::Seconds(7));
  tally.Decoded(absl::Seconds(3));
  tally.HoldsMemory(10);
  tally.HoldsMemory(4);
  tally.StepsDone(6, 4);
  const model::RunStats stats = tally.Stats("cpu", 8);
  EXPECT_EQ(stats.text_encode, absl::Seconds(1));
  EXPECT_EQ(stats.denoise, absl::Seconds(4));
  EXPECT_EQ(stats.decode, absl::Seconds(3));
  EXPECT_DOUBLE_EQ(stats.device_seconds, 1 + 2 + 0.5 + 7 + 3);
  EXPECT_DOUBLE_EQ(stats.mean_batch, 2.5);
  EXPECT_EQ(stats.peak_memory_bytes, 10);
  EXPECT_EQ(stats.latent_tokens, 8);
  EXPECT_EQ(stats.full_steps, 2);
  EXPECT_EQ(stats.reused_steps, 4);
}

TEST(JobTally, HasItsShareOfTheEnergyByDeviceTime) {
  JobTally one, other;
  // Nobody told yet: it is not known, which is not none.
  one.Stepped(absl::Seconds(2), 2, 0.75);
  other.Stepped(absl::Seconds(2), 2, 0.25);
  EXPECT_FALSE(one.Stats("", 0).energy_joules.has_value());
  one.TookEnergy(800, absl::Seconds(2));
  other.TookEnergy(800, absl::Seconds(2));
  EXPECT_DOUBLE_EQ(one.Stats("", 0).energy_joules.value_or(-1), 600);
  EXPECT_DOUBLE_EQ(other.Stats("", 0).energy_joules.value_or(-1), 200);
  // The device worked for neither.
  one.TookEnergy(5000, absl::Seconds(60));
  EXPECT_DOUBLE_EQ(one.Stats("", 0).energy_joules.value_or(-1), 600);
  // A quarter of the time for one, and the other half of it for nobody.
  one.Decoded(absl::Seconds(1));
  other.Previewed(absl::Seconds(1));
  one.TookEnergy(400, absl::Seconds(4));
  other.TookEnergy(400, absl::Seconds(4));
  EXPECT_DOUBLE_EQ(one.Stats("", 0).energy_joules.value_or(-1), 700);
  EXPECT_DOUBLE_EQ(other.Stats("", 0).energy_joules.value_or(-1), 300);
  // Never more than there was.
  one.Decoded(absl::Seconds(9));
  one.TookEnergy(10, absl::Seconds(1));
  EXPECT_DOUBLE_EQ(one.Stats("", 0).energy_joules.value_or(-1), 710);
}

TEST(JobTally, ItsOwnMemoryIsTheMostOfAllPiecesOrNotKnown) {
  JobTally tally;
  tally.TookMemory(30, 10);
  tally.TookMemory(15, -5);
  EXPECT_EQ(tally.own_memory(), 30);
  tally.TookMemory(40, 0);
  EXPECT_EQ(tally.own_memory(), 45);
  tally.MissedMemory();
  EXPECT_EQ(tally.own_memory(), 0);
}

TEST(JobTally, CountsKernelsByOperatorAndVariant) {
  JobTally tally;
  tally.Used({{"rms_norm", "loops", 3}, {"rope", "loops", 1}});
  tally.Used({{"rms_norm", "loops", 2}, {"rms_norm", "cpu", 1}});
  EXPECT_FALSE(tally.has_timed_step());
  tally.Timed(model::Stage::kTextEncode, absl::Seconds(1), {{"linear", "loops", 1, 100}});
  EXPECT_FALSE(tally.has_timed_step());
  tally.Timed(model::Stage::kDenoise, absl::Seconds(1), {{"rope", "loops", 1, 100}});
  tally.Timed(model::Stage::kDenoise, absl::Seconds(1), {{"rope", "loops", 2, 50}});
  EXPECT_TRUE(tally.has_timed_step());
  const model::RunStats stats = tally.Stats("cpu", 0);
  ASSERT_EQ(stats.kernels.size(), 3u);
  EXPECT_EQ(stats.kernels[1].variant, "loops");
  EXPECT_EQ(stats.kernels[1].calls, 5);
  ASSERT_EQ(stats.kernel_stats.size(), 1u);
  EXPECT_EQ(stats.kernel_stats[0].calls, 3);
  EXPECT_EQ(stats.kernel_stats[0].total_ns, 150);
}

TEST(JobTally, ScalesWhatWasTimedToThePartAndNamesTheGaps) {
  JobTally tally;
  for (int i = 0; i < 10; ++i) tally.Stepped(absl::Seconds(1), 1, 1);
  tally.Decoded(absl::Seconds(3));
  tally.Timed(model::Stage::kDenoise, absl::Seconds(1), {{"linear", "aten", 4, 600'000'000}});
  tally.Timed(model::Stage::kDenoise, absl::Seconds(1),
              {{"linear", "aten", 4, 600'000'000}, {"rms_norm", "cpu", 2, 400'000'000}});
  // A device's events may sum to more than its host saw; a text without operators tells nothing.
  tally.Timed(model::Stage::kDecode, absl::Seconds(1), {{"conv3d", "aten", 1, 1'500'000'000}});
  tally.Timed(model::Stage::kTextEncode, absl::Seconds(1), {});
  const model::RunStats stats = tally.Stats("cpu", 0);
  EXPECT_EQ(stats.timed_steps, 2);
  ASSERT_EQ(stats.operators.size(), 5u);
  EXPECT_EQ(stats.operators[0].op, "linear");
  EXPECT_EQ(stats.operators[0].calls, 8);
  EXPECT_EQ(stats.operators[0].timed, absl::Milliseconds(1200));
  EXPECT_EQ(stats.operators[0].estimate, absl::Seconds(6));
  EXPECT_EQ(stats.operators[1].estimate, absl::Seconds(2));
  EXPECT_EQ(stats.operators[2].op, "gaps");
  EXPECT_EQ(stats.operators[2].estimate, absl::Seconds(2));
  EXPECT_EQ(stats.operators[3].part, model::RunPart::kDecode);
  EXPECT_EQ(stats.operators[3].estimate, absl::Seconds(3));
  EXPECT_EQ(stats.operators[4].estimate, absl::ZeroDuration());
}

TEST(JobTally, TellsHowLongItsStepsWaitedForWeights) {
  JobTally tally;
  for (int i = 0; i < 4; ++i) tally.Stepped(absl::Seconds(2), 1, 1);
  tally.TextEncoded(absl::Seconds(1));
  EXPECT_EQ(tally.Stats("cpu", 0).stream_stall, absl::ZeroDuration());
  // Waits of the text encoder are not those of steps.
  tally.Timed(model::Stage::kTextEncode, absl::Seconds(1), {{"weights", "stream", 9, 100'000'000}});
  EXPECT_EQ(tally.Stats("cpu", 0).stream_stall, absl::ZeroDuration());
  tally.Timed(model::Stage::kDenoise, absl::Seconds(2),
              {{"linear", "aten", 4, 600'000'000}, {"weights", "stream", 8, 500'000'000}});
  EXPECT_EQ(tally.Stats("cpu", 0).stream_stall, absl::Seconds(2));
}

TEST(JobTally, TellsWhichVariantsWereLossy) {
  JobTally tally;
  tally.Used({{"linear", "aten", 3}, {"linear", "e4m3_rows", 1}});
  const model::RunStats stats = tally.Stats("cpu", 0);
  ASSERT_EQ(stats.kernels.size(), 2u);
  EXPECT_FALSE(stats.kernels[0].is_lossy);
  EXPECT_TRUE(stats.kernels[1].is_lossy);
}

TEST(JobTally, AJobWithoutStepsHasNoBatch) { EXPECT_EQ(JobTally().Stats("", 0).mean_batch, 0); }

}  // namespace
}  // namespace reel::worker
