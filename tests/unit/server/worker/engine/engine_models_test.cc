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

TEST_F(EngineModelsTest, ACanaryThatLosesTheDeviceIsNoJobsFault) {
  StartLong("a", "fox");
  LoadBeside(1, "sticky");
  Join();
  EXPECT_TRUE(events_.device_lost().has_value());
  EXPECT_FALSE(events_.has_ended("a"));
}

}  // namespace
}  // namespace reel::worker
