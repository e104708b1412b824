// SPDX-License-Identifier: Apache-2.0
// A job's life in the engine, when nothing goes wrong.
#include "server/worker/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/testcard/picture_code.h"
#include "server/errors/error.h"
#include "tests/fakes/decoded_video.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using model::Stage;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

void ExpectOwnFrames(const std::string& file, const model::GenerationSpec& spec) {
  const auto video = reel::testing::Decode(file);
  ASSERT_TRUE(video.ok()) << video.status();
  ASSERT_THAT(video->luma, SizeIs(spec.num_frames));
  const uint32_t hash = model::PictureHash(spec.prompt, *spec.seed, spec.width, spec.height);
  for (int i = 0; i < spec.num_frames; ++i) {
    EXPECT_EQ(
        model::DecodeCode(video->luma[static_cast<size_t>(i)], spec.width, spec.width, spec.height),
        (model::PictureCode{hash, i}));
  }
}

TEST_F(EngineTest, TellsTheStagesInTheirOrder) {
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_TRUE(events_.ended("a").error.ok()) << events_.ended("a").error;
  EXPECT_THAT(
      events_.progress("a"),
      ElementsAre(Pair(Stage::kTextEncode, 0), Pair(Stage::kDenoise, 0), Pair(Stage::kDenoise, 1),
                  Pair(Stage::kDenoise, 2), Pair(Stage::kDenoise, 3), Pair(Stage::kDenoise, 4),
                  Pair(Stage::kDecode, 4), Pair(Stage::kEncode, 4)));
}

TEST_F(EngineTest, SaysWhatTheRunWasAndCost) {
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  const JobFinished result = events_.ended("a").result;
  EXPECT_EQ(result.media.size_bytes, static_cast<int64_t>(events_.file("a").size()));
  EXPECT_EQ(result.media.duration, absl::Seconds(9.0 / 24));
  EXPECT_THAT(result.media.content_type, StartsWith("video/mp4; codecs=\"avc1."));
  EXPECT_EQ(result.stats.device, "cpu");
  EXPECT_EQ(result.stats.latent_tokens, 8);
  EXPECT_EQ(result.stats.mean_batch, 1);
  EXPECT_GE(result.stats.denoise, absl::Milliseconds(4));
  EXPECT_GE(result.stats.device_seconds, 0.004);
  EXPECT_TRUE(events_.contiguous());
  EXPECT_EQ(events_.fragments("a"), 2);
}

TEST_F(EngineTest, JobsInOneBatchGetTheirOwnFrames) {
  for (const char* job : {"a", "b", "c"}) Assign(job);
  Start();
  for (const char* job : {"a", "b", "c"}) {
    ASSERT_TRUE(events_.WaitForEnd(job));
    ExpectOwnFrames(events_.file(job), Spec(job));
  }
}

TEST_F(EngineTest, TheSameSpecGivesTheSameFileAloneAndInABatch) {
  engine().Post(Job("a", Spec("fox")));
  engine().Post(Job("b", Spec("fox")));
  Assign("other");
  Assignment alone = Job("c", Spec("fox"));
  alone.alone = true;
  engine().Post(alone);
  Start();
  for (const char* job : {"a", "b", "c"}) ASSERT_TRUE(events_.WaitForEnd(job));
  EXPECT_EQ(events_.file("a"), events_.file("b"));
  EXPECT_EQ(events_.file("a"), events_.file("c"));
}

TEST_F(EngineTest, SendsPreviewsEveryNthStep) {
  model::GenerationSpec spec = Spec("fox");
  spec.preview = {2, 32};
  engine().Post(Job("a", spec));
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  const auto previews = events_.previews("a");
  ASSERT_THAT(previews, SizeIs(2));
  EXPECT_EQ(previews[0].step, 2);
  EXPECT_EQ(previews[1].step, 4);
  EXPECT_EQ(previews[0].width, 32);
  EXPECT_THAT(previews[0].jpeg, StartsWith("\xFF\xD8"));
  // Alone on the device, and charged for more than its stages.
  const model::RunStats stats = events_.ended("a").result.stats;
  EXPECT_GT(stats.device_seconds,
            absl::ToDoubleSeconds(stats.text_encode + stats.denoise + stats.decode) + 1e-7);
}

TEST_F(EngineTest, ReportsLoadedAndFailedModels) {
  model::LoadOptions unknown;
  unknown.name = "ltx";
  unknown.path = "/nowhere";
  engine().Post(LoadModel{unknown});
  Start();
  ASSERT_TRUE(events_.WaitForModel("testcard"));
  ASSERT_TRUE(events_.WaitForModel("ltx"));
  EXPECT_EQ(events_.card("testcard").family, "test card");
  EXPECT_EQ(events_.model_error("ltx").code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(EngineTest, AnUnloadedModelTakesNoJobButFinishesItsOwn) {
  Assign("a");
  engine().Post(UnloadModel{"testcard"});
  Assign("b");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  ASSERT_TRUE(events_.WaitForEnd("b"));
  EXPECT_TRUE(events_.ended("a").error.ok());
  EXPECT_EQ(ReasonOf(events_.ended("b").error), Reason::kModelUnloaded);
}

TEST_F(EngineTest, RefusesASpecThatIsNotResolved) {
  model::GenerationSpec unresolved = Spec("fox");
  unresolved.encoding.crf.reset();
  engine().Post(Job("a", unresolved));
  model::GenerationSpec illegal = Spec("fox");
  illegal.width = 500;
  engine().Post(Job("b", illegal));
  Start();
  for (const char* job : {"a", "b"}) {
    ASSERT_TRUE(events_.WaitForEnd(job));
    EXPECT_EQ(ReasonOf(events_.ended(job).error), Reason::kInternal);
    EXPECT_TRUE(events_.ended(job).suspect);
  }
}

TEST_F(EngineTest, RefusesKernelsThatDoNotExist) {
  model::GenerationSpec spec = Spec("fox");
  spec.kernels.variants["rms_norm"] = "sm90";
  engine().Post(Job("a", spec));
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_EQ(ReasonOf(events_.ended("a").error), Reason::kUnknownKernel);
}

TEST_F(EngineTest, AJobThatIsHereIsNotTakenTwice) {
  Assign("a");
  Assignment again = Job("a", Spec("a"));
  again.ref.attempt = 2;
  engine().Post(again);
  events_.Hold("a");  // the first one cannot finish before the second's end has been looked at
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_EQ(events_.ended("a").ref.attempt, 2);
  EXPECT_EQ(ReasonOf(events_.ended("a").error), Reason::kInternal);
}

// Each piece of a job reads the memory twice. Of the first two readings the model is loaded.
class EngineMemoryTest : public EngineTest {
 protected:
  EngineMemoryTest() {
    options_.read_memory = [this] { return Read(readings_++); };
  }
  // Empty, then with weights of 1000 bytes; a job's tensors take 40 at most, of which 10 stay.
  virtual model::DeviceMemory Read(int reading) {
    if (reading == 0) return {.held = 500};
    if (reading == 1) return {.held = 1600, .reserved = 1100, .in_use = 1000, .peak = 1300};
    const int64_t peak = reading == 5 ? 1040 : 1020;
    return {.held = 2000, .reserved = 1500, .in_use = reading < 3 ? 1000 : 1010, .peak = peak};
  }
  std::atomic<int> readings_ = 0;
};

TEST_F(EngineMemoryTest, TellsTheDevicesMemoryAndThatOfAJobBesideTheWeights) {
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_EQ(events_.ended("a").result.stats.peak_memory_bytes, 40);
  const std::vector<model::DeviceMemory> told = events_.memory();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front().held, 1600);  // before any step
  EXPECT_EQ(told.back().held, 2000);
  EXPECT_EQ(told.back().reserved, 1500);
  EXPECT_EQ(told.back().in_use, 1010);
}

TEST_F(EngineMemoryTest, TellsWhatOfItWasAJobsOwn) {
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  // Creating it left 10; its text took 30 more for a moment.
  EXPECT_EQ(events_.ended("a").result.memory_bytes, 40);
}

class IdleMemoryTest : public EngineMemoryTest {
 protected:
  ~IdleMemoryTest() override { Stop(); }
  model::DeviceMemory Read(int) override { return {.held = held_, .reserved = held_}; }
  std::atomic<int64_t> held_ = 10;
};

TEST_F(IdleMemoryTest, TellsWhatOthersTakeWhileNothingMoves) {
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  held_ = 20;
  EXPECT_TRUE(events_.WaitForMemory(20));
}

TEST_F(IdleMemoryTest, GivesBackWhatIsKeptBeyondItsBound) {
  options_.memory_bytes = 100;
  options_.return_memory = [this] { held_ = 50; };
  held_ = 200;
  Assign("a");
  Start();
  EXPECT_TRUE(events_.WaitForMemory(50));
}

TEST_F(EngineTest, TellsNoMemoryWhereThereIsNoneToRead) {
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_EQ(events_.ended("a").result.stats.peak_memory_bytes, 0);
  for (const auto& memory : events_.memory()) EXPECT_EQ(memory, model::DeviceMemory());
}

}  // namespace
}  // namespace reel::worker
