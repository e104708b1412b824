// SPDX-License-Identifier: Apache-2.0
// Models that come and go beside jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "server/errors/error.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;

class EngineModelsTest : public EngineTest {
 protected:
  // Videos with `prompt` in their prompt fail; so a job shows which model it was given to.
  void LoadBeside(int64_t revision, const std::string& kind = "", const std::string& prompt = "",
                  absl::Duration load_time = absl::ZeroDuration()) {
    model::LoadOptions load;
    load.name = "testcard";
    load.test_card = test_card_;
    load.test_card.load_time = load_time;
    load.warm_up = warm_up_;
    if (!kind.empty()) {
      load.test_card.faults = {{.kind = kind, .step = 1, .prompt_contains = prompt}};
    }
    engine().Post(LoadModel{std::move(load), revision});
  }
  // A job of half a second and more, which has begun.
  void StartLong(const std::string& name, const std::string& prompt) {
    test_card_.step_time = absl::Milliseconds(5);
    model::GenerationSpec spec = Spec(prompt);
    spec.num_inference_steps = 100;
    engine().Post(Job(name, spec));
    Start();
    ASSERT_TRUE(events_.WaitForStep(name, 1));
    test_card_.step_time = absl::ZeroDuration();
  }
  bool Fails(const std::string& job) {
    EXPECT_TRUE(events_.WaitForEnd(job));
    return !events_.ended(job).error.ok();
  }
};

TEST_F(EngineModelsTest, AJobKeepsTheModelThatItBeganWith) {
  StartLong("old", "zebra");
  LoadBeside(1, "nan", "zebra");
  ASSERT_TRUE(events_.WaitForRevision(1));
  EXPECT_TRUE(events_.model_error("testcard").ok());
  EXPECT_FALSE(events_.has_ended("old")) << "it was to be under way";
  engine().Post(Job("new", Spec("zebra")));
  EXPECT_TRUE(Fails("new")) << "it was to be the new model's";
  EXPECT_FALSE(Fails("old"));
}

TEST_F(EngineModelsTest, AModelThatFailsItsCanaryDoesNotServe) {
  Start();
  LoadBeside(1, "nan");
  ASSERT_TRUE(events_.WaitForRevision(1));
  EXPECT_TRUE(!events_.model_error("testcard").ok());
  EXPECT_THAT(std::string(events_.model_error("testcard").message()), HasSubstr("not finite"));
  Assign("a");
  EXPECT_FALSE(Fails("a"));
}

TEST_F(EngineModelsTest, WeightsThatCannotBeReadLeaveTheOldModel) {
  model::LoadOptions broken;
  broken.name = "testcard";
  broken.path = "/nowhere";
  Start();
  engine().Post(LoadModel{broken, 1});
  ASSERT_TRUE(events_.WaitForRevision(1));
  EXPECT_FALSE(events_.model_error("testcard").ok());
  Assign("a");
  EXPECT_FALSE(Fails("a"));
}

TEST_F(EngineModelsTest, JobsGoOnWhileAModelIsLoaded) {
  Start();
  ASSERT_TRUE(events_.WaitForModel("testcard"));
  LoadBeside(1, "", "", absl::Seconds(2));
  Assign("a");
  EXPECT_FALSE(Fails("a"));
  EXPECT_FALSE(events_.has_answered(1)) << "the job waited for the load";
  EXPECT_TRUE(events_.WaitForRevision(1));
}

TEST_F(EngineModelsTest, OneThatIsUnloadedOrAskedForAgainMeanwhileDoesNotCome) {
  LoadBeside(1, "nan", "zebra");
  LoadBeside(2, "nan", "zebra");
  engine().Post(UnloadModel{"testcard"});
  LoadBeside(3);
  Start();
  ASSERT_TRUE(events_.WaitForRevision(3));
  EXPECT_FALSE(events_.has_answered(1));
  EXPECT_FALSE(events_.has_answered(2));
  engine().Post(Job("a", Spec("zebra")));
  EXPECT_FALSE(Fails("a"));
}

TEST_F(EngineModelsTest, ARequestThatTheNewModelDoesNotTakeIsToldSo) {
  model::GenerationSpec unresolved = Spec("fox");
  unresolved.encoding.crf.reset();
  Start();
  LoadBeside(1);
  ASSERT_TRUE(events_.WaitForRevision(1));
  engine().Post(Job("a", unresolved));
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_EQ(ReasonOf(events_.ended("a").error), Reason::kModelReplaced);
}

TEST_F(EngineModelsTest, ServesOnceItsWarmUpsAreMade) {
  warm_up_.sizes = {{128, 96, 9}, {}};
  test_card_.step_time = absl::Milliseconds(30);
  Start();
  ASSERT_TRUE(events_.WaitForRevision(0));
  const std::vector<WarmedUp> made = events_.warm_ups();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].size, (model::WarmUpSize{128, 96, 9}));
  EXPECT_GT(made[1].size.width, 0) << "the default has no size";
  for (const WarmedUp& video : made) {
    EXPECT_TRUE(video.status.ok()) << video.status;
    EXPECT_GE(video.took, absl::Milliseconds(60)) << "it has two steps";
  }
  Assign("a");
  EXPECT_FALSE(Fails("a"));
}

TEST_F(EngineModelsTest, OnADeviceThreeSizesAreWarmedUpUnasked) {
  options_.stream.device = 0;  // the test card needs none
  // Each ends at its first step: whole ones are made elsewhere, and the largest takes long.
  test_card_.faults = {{.kind = "oom", .step = 1, .prompt_contains = "", .times = 3}};
  Start();
  ASSERT_TRUE(events_.WaitForRevision(0));
  std::vector<model::WarmUpSize> sizes;
  for (const WarmedUp& video : events_.warm_ups()) {
    EXPECT_TRUE(absl::IsResourceExhausted(video.status)) << video.status;
    sizes.push_back(video.size);
  }
  // Two of its presets, and its default between them.
  EXPECT_THAT(sizes, ::testing::ElementsAre(model::WarmUpSize{256, 160, 25},
                                            model::WarmUpSize{384, 256, 49},
                                            model::WarmUpSize{1216, 704, 121}));
}

TEST_F(EngineModelsTest, AWarmUpWithoutMemoryIsLeftOut) {
  warm_up_.sizes = {{128, 96, 9}, {160, 96, 9}, {192, 96, 9}};
  test_card_.faults = {{.kind = "oom", .step = 1, .prompt_contains = "", .times = 1}};
  Start();
  ASSERT_TRUE(events_.WaitForRevision(0));
  const std::vector<WarmedUp> made = events_.warm_ups();
  ASSERT_EQ(made.size(), 3U);
  EXPECT_TRUE(absl::IsResourceExhausted(made[0].status)) << made[0].status;
  EXPECT_TRUE(made[1].status.ok());
  EXPECT_TRUE(made[2].status.ok());
}

TEST_F(EngineModelsTest, OnACpuNothingIsWarmedUpUnasked) {
  Start();
  ASSERT_TRUE(events_.WaitForRevision(0));
  EXPECT_TRUE(events_.warm_ups().empty());
}

TEST_F(EngineModelsTest, AWarmUpThatFailsKeepsItFromNothing) {
  warm_up_.sizes = {{128, 96, 9}, {130, 96, 9}};
  test_card_.faults = {{.kind = "nan", .step = 1, .prompt_contains = "", .times = 1}};
  Start();
  ASSERT_TRUE(events_.WaitForRevision(0));
  EXPECT_TRUE(events_.model_error("testcard").ok());
  const std::vector<WarmedUp> made = events_.warm_ups();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_TRUE(absl::IsFailedPrecondition(made[0].status)) << "a size that it does not take";
  EXPECT_TRUE(absl::IsDataLoss(made[1].status)) << made[1].status;
  Assign("a");
  EXPECT_FALSE(Fails("a"));
}

TEST_F(EngineModelsTest, AWarmUpThatLosesTheDeviceEndsTheWorker) {
  warm_up_.sizes = {{}};
  test_card_.faults = {{.kind = "sticky", .step = 1, .prompt_contains = ""}};
  Start();
  Join();
  EXPECT_TRUE(events_.device_lost().has_value());
}

TEST_F(EngineModelsTest, AModelThatComesLaterIsWarmedUpAfterItsCanary) {
  Start();
  ASSERT_TRUE(events_.WaitForRevision(0));
  warm_up_.sizes = {{128, 96, 9}};
  LoadBeside(1);
  ASSERT_TRUE(events_.WaitForRevision(1));
  ASSERT_EQ(events_.warm_ups().size(), 1U);
  EXPECT_TRUE(events_.warm_ups()[0].status.ok());
}

TEST_F(EngineModelsTest, ACanaryThatLosesTheDeviceIsNoJobsFault) {
  StartLong("a", "fox");
  LoadBeside(1, "sticky");
  Join();
  EXPECT_TRUE(events_.device_lost().has_value());
  EXPECT_FALSE(events_.has_ended("a"));
}

}  // namespace
}  // namespace reel::worker
