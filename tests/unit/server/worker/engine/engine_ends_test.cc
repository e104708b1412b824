// SPDX-License-Identifier: Apache-2.0
// The end of a job whose file is made while the engine is busy with somebody else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "server/errors/error.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using model::Stage;

class EngineEndsTest : public EngineTest {
 protected:
  // "short" has its frames made, and its file held; then the engine is kept in a step of "long",
  // from which `meanwhile` is called.
  void WhileAnotherIsInItsStep(std::function<void()> meanwhile) {
    events_.Hold("short");
    engine().Post(Job("short", Spec("short"), 0));
    model::GenerationSpec longer = Spec("long");
    longer.num_inference_steps = 40;
    engine().Post(Job("long", longer, 1));
    events_.on_progress = [this, meanwhile = std::move(meanwhile), done = false](
                              const JobRef& job, Stage stage, int) mutable {
      if (done || job.job != "long" || stage != Stage::kDenoise || !IsEncoded("short")) return;
      done = true;
      meanwhile();
    };
    Start();
    ASSERT_TRUE(events_.WaitForEnd("long"));
    ASSERT_TRUE(events_.WaitForEnd("short"));
  }
  bool IsEncoded(const std::string& job) {
    const auto progress = events_.progress(job);
    return std::any_of(progress.begin(), progress.end(),
                       [](const auto& told) { return told.first == Stage::kEncode; });
  }
};

TEST_F(EngineEndsTest, ASuccessIsToldWhileTheEngineIsInAStepOfAnother) {
  bool told = false;
  WhileAnotherIsInItsStep([&] {
    events_.ReleaseAll();
    told = events_.WaitForEnd("short");
  });
  EXPECT_TRUE(told);
  EXPECT_TRUE(events_.ended("short").error.ok()) << events_.ended("short").error;
  EXPECT_FALSE(events_.file("short").empty());
  EXPECT_EQ(events_.ended("short").result.media.size_bytes,
            static_cast<int64_t>(events_.file("short").size()));
}

TEST_F(EngineEndsTest, ACancelThatComesAfterTheFileChangesNothing) {
  WhileAnotherIsInItsStep([&] {
    engine().Post(CancelJob{"short"});
    events_.ReleaseAll();
    EXPECT_TRUE(events_.WaitForEnd("short"));
  });
  EXPECT_TRUE(events_.ended("short").error.ok()) << events_.ended("short").error;
  EXPECT_EQ(events_.ended("short").told, 1);
}

TEST_F(EngineEndsTest, ACancelThatComesBeforeTheFileEndsIt) {
  WhileAnotherIsInItsStep([&] { engine().Post(CancelJob{"short"}); });
  EXPECT_EQ(ReasonOf(events_.ended("short").error), Reason::kCancelledByOwner);
  Stop();
  EXPECT_EQ(events_.ended("short").told, 1);
}

TEST_F(EngineEndsTest, ADrainThatCutsAJobTellsNothingOfIt) {
  events_.Hold("a");
  Assign("a");
  events_.on_progress = [this](const JobRef&, Stage stage, int) {
    if (stage == Stage::kEncode) engine().Post(DrainEngine{absl::ZeroDuration()});
  };
  Start();
  Join();
  EXPECT_TRUE(events_.drained());
  Stop();
  EXPECT_FALSE(events_.has_ended("a"));
}

}  // namespace
}  // namespace reel::worker
