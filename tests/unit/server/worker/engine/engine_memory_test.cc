// SPDX-License-Identifier: Apache-2.0
// Jobs and models of a device whose memory is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "server/errors/error.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using ::testing::SizeIs;

// Every job has 8 tokens, in 16 rows, and 36,864 pixels.
constexpr int64_t kTokens = 8, kRows = 16, kPixels = 64 * 64 * 9;

class CountedMemoryTest : public EngineTest {
 protected:
  // Of weights of 1,000 bytes, and so much beside.
  void Have(int64_t beside) {
    counted_ = std::make_shared<model::CountedMemory>(1000 + beside);
    options_.counted = counted_;
    options_.read_memory = [counted = counted_] { return counted->Read(); };
    test_card_.memory.weights = 1000;
  }
  void Finishes(const std::string& job) {
    ASSERT_TRUE(events_.WaitForEnd(job)) << job;
    EXPECT_TRUE(events_.ended(job).error.ok()) << job << ": " << events_.ended(job).error;
  }
  // Whether it is to blame.
  bool FailsForMemory(const std::string& job) {
    EXPECT_TRUE(events_.WaitForEnd(job)) << job;
    EXPECT_EQ(ReasonOf(events_.ended(job).error), Reason::kOutOfDeviceMemory) << job;
    return events_.ended(job).suspect;
  }
  void AssignAlone(const std::string& name) {
    Assignment job = Job(name, Spec(name));
    job.alone = true;
    engine().Post(job);
  }
  void LoadMore(const std::string& name, int64_t revision) {
    model::LoadOptions load;
    load.name = name;
    load.test_card = test_card_;
    engine().Post(LoadModel{load, revision});
  }
  model::DeviceMemory LastTold() { return events_.memory().back(); }

  std::shared_ptr<model::CountedMemory> counted_;
};

TEST_F(CountedMemoryTest, AJobIsToldWhatItTookAtItsFullest) {
  test_card_.memory.per_token = 100;
  test_card_.memory.per_step_row = 10;
  Have(10'000);
  Assign("a");
  Start();
  Finishes("a");
  EXPECT_EQ(events_.ended("a").result.memory_bytes, 100 * kTokens + 10 * kRows);
}

TEST_F(CountedMemoryTest, OfASharedStepEachHasItsPart) {
  test_card_.memory.per_token = 100;
  test_card_.memory.per_step_row = 10;
  Have(10'000);
  Assign("a");
  Assign("b");
  Start();
  Finishes("a");
  Finishes("b");
  ASSERT_THAT(events_.steps()[0].jobs, SizeIs(2));
  for (const char* job : {"a", "b"}) {
    EXPECT_EQ(events_.ended(job).result.memory_bytes, 100 * kTokens + 10 * kRows) << job;
  }
}

// Who gives out memory adds up what it was told of each.
TEST_F(CountedMemoryTest, WhatDifferentSizesTookTogetherIsTheSumOfWhatIsToldOfEach) {
  test_card_.memory.per_token = 100;
  test_card_.memory.per_step_row = 10;
  test_card_.memory.untold_per_token = 7;
  Have(100'000);
  model::GenerationSpec large = Spec("large");
  large.width = 128;
  large.height = 96;
  large.num_frames = 17;
  const int64_t large_tokens = 4 * 3 * 3;
  Assign("small");
  engine().Post(Job("large", Resolved(large)));
  Start();
  Finishes("small");
  Finishes("large");
  for (const StepSample& step : events_.steps()) EXPECT_THAT(step.jobs, SizeIs(2));
  const int64_t told_small = events_.ended("small").result.memory_bytes;
  const int64_t told_large = events_.ended("large").result.memory_bytes;
  EXPECT_NEAR(static_cast<double>(told_small), 127.0 * kTokens, 1);
  EXPECT_NEAR(static_cast<double>(told_large), 127.0 * static_cast<double>(large_tokens), 1);
  EXPECT_NEAR(static_cast<double>(told_small + told_large),
              static_cast<double>(LastTold().most - 1000), 2);
}

TEST_F(CountedMemoryTest, WhatIsDecodedCounts) {
  test_card_.memory.per_decoded_pixel = 1;
  Have(kPixels);
  Assign("a");
  Start();
  Finishes("a");
  EXPECT_EQ(events_.ended("a").result.memory_bytes, kPixels);
}

TEST_F(CountedMemoryTest, AStepThatDoesNotFitIsSplit) {
  test_card_.memory.untold_per_token = 100;
  Have(150 * kTokens);
  Assign("a");
  Assign("b");
  Start();
  Finishes("a");
  Finishes("b");
  EXPECT_THAT(events_.steps()[0].jobs, SizeIs(2));
  EXPECT_THAT(events_.steps()[1].jobs, SizeIs(1));
  EXPECT_TRUE(events_.WaitForMemory(1000));
}

TEST_F(CountedMemoryTest, WhatIsOnlyRememberedMakesRoom) {
  test_card_.memory.kept_per_video = 300;
  test_card_.memory.untold_per_token = 50;
  Have(1000);
  Start();
  for (const char* job : {"a", "b", "c", "d"}) {
    Assign(job);
    Finishes(job);
  }
  // Two fit beside a step.
  EXPECT_LE(LastTold().kept, 2 * 300);
}

TEST_F(CountedMemoryTest, WhatIsRememberedIsToldAndIsNoJobs) {
  test_card_.memory.kept_per_video = 300;
  test_card_.memory.per_token = 10;
  Have(1000);
  Assign("a");
  Start();
  Finishes("a");
  EXPECT_EQ(events_.ended("a").result.memory_bytes, 10 * kTokens);
  EXPECT_EQ(LastTold().kept, 300);
}

TEST_F(CountedMemoryTest, OutOfItAloneTheJobIsToBlameAndAllIsGivenBack) {
  test_card_.memory.untold_per_token = 1000;
  Have(40'000);  // enough for a canary of 32 tokens
  model::GenerationSpec large = Spec("a");
  large.width = large.height = 256;
  engine().Post(Job("a", Resolved(large)));
  Start();
  EXPECT_TRUE(FailsForMemory("a"));
  EXPECT_FALSE(events_.ended("a").device_lost);
  EXPECT_TRUE(events_.WaitForMemory(1000));
  Assign("b");
  Finishes("b");
}

TEST_F(CountedMemoryTest, OutOfItBesideOthersTheFrontTriesAgain) {
  test_card_.step_time = absl::Milliseconds(5);
  test_card_.memory.per_token = 100;
  test_card_.memory.untold_per_token = 50;
  Have(200 * kTokens);  // both states, and no step
  Assign("a");
  Assign("b");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  ASSERT_TRUE(events_.WaitForEnd("b"));
  // One goes, and the other finishes.
  const bool a_went = !events_.ended("a").error.ok();
  EXPECT_FALSE(FailsForMemory(a_went ? "a" : "b"));
  Finishes(a_went ? "b" : "a");
}

TEST_F(CountedMemoryTest, ADecoderThatWasInterruptedDoesNotGoOn) {
  test_card_.memory.per_decoded_pixel = 1;
  Have(kPixels - 1);
  Assign("a");
  Start();
  EXPECT_FALSE(FailsForMemory("a"));
  AssignAlone("b");
  EXPECT_TRUE(FailsForMemory("b"));
}

TEST_F(CountedMemoryTest, AProcessThatMakesNotEvenASmallVideoEnds) {
  test_card_.faults = {{.kind = "oom", .step = 1, .prompt_contains = ""}};
  Have(1000);
  Assign("a");
  Start();
  EXPECT_TRUE(FailsForMemory("a"));
  Join();
  EXPECT_TRUE(events_.ended("a").device_lost);
  EXPECT_TRUE(events_.device_lost().has_value());
}

TEST_F(CountedMemoryTest, WeightsThatDoNotFitAreRefused) {
  Have(500);
  Start();
  LoadMore("second", 1);
  ASSERT_TRUE(events_.WaitForRevision(1));
  EXPECT_TRUE(absl::IsResourceExhausted(events_.model_error("second")));
  Assign("a");
  Finishes("a");
}

TEST_F(CountedMemoryTest, AModelOnDemandIsLookedAtAndTakesNothing) {
  Have(500);
  test_card_.load_time = absl::Hours(1);
  model::LoadOptions load;
  load.name = "later";
  load.test_card = test_card_;
  load.on_demand = true;
  test_card_.load_time = absl::ZeroDuration();
  engine().Post(LoadModel{load});
  Start();
  ASSERT_TRUE(events_.WaitForKnown("later"));
  EXPECT_EQ(events_.known("later").weight_bytes, 1000);
  Assign("a");
  Finishes("a");
}

TEST_F(CountedMemoryTest, AModelThatGoesMakesRoomForTheNextCommand) {
  Have(500);
  engine().Post(UnloadModel{"testcard"});
  LoadMore("second", 1);
  Start();
  ASSERT_TRUE(events_.WaitForRevision(1));
  EXPECT_TRUE(events_.model_error("second").ok()) << events_.model_error("second");
  EXPECT_TRUE(events_.WaitForMemory(1000));
}

}  // namespace
}  // namespace reel::worker
