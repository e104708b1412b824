// SPDX-License-Identifier: Apache-2.0
// A clip that is refined in windows: frames that no later window changes leave between its steps,
// and its file is the same whatever comes in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "server/errors/error.h"
#include "tests/fakes/decoded_video.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using model::Stage;

class EngineWindowsTest : public EngineTest {
 protected:
  static constexpr int kFrames = 601;
  static constexpr int kSteps = 6;  // two for each of three windows

  EngineWindowsTest() { test_card_.pictures = test_card_.sound = true; }

  model::GenerationSpec Known(const model::GenerationSpec& spec) const {
    const auto resolved = model::Resolve(spec, model::TestCardModelCard("testcard", test_card_),
                                         model::RequestLimits(), 1);
    EXPECT_TRUE(resolved.ok()) << resolved.violations[0].description;
    return resolved.spec;
  }
  model::GenerationSpec Short(const std::string& prompt) const {
    model::GenerationSpec spec;
    spec.prompt = prompt;
    spec.width = spec.height = 64;
    spec.num_frames = 9;
    spec.num_inference_steps = 2;
    return Known(spec);
  }
  // Of a clip that the test card has made.
  model::GenerationSpec Refining() {
    if (clip_ == nullptr) {
      engine().Post(Job("clip", Short("a clip")));
      EXPECT_TRUE(events_.WaitForEnd("clip"));
      clip_ = std::make_shared<const std::string>(events_.file("clip"));
    }
    model::GenerationSpec spec;
    spec.prompt = "a fox";
    spec.seed = 7;
    spec.preset = "two-pass";
    spec.width = spec.height = 64;
    spec.num_frames = kFrames;
    spec.frame_rate = 25;
    spec.conditions.resize(1);
    model::Condition& condition = spec.conditions[0];
    condition.kind = model::Condition::Kind::kVideo;
    condition.use = model::Condition::Use::kRefine;
    condition.content_type = "video/mp4";
    condition.bytes = clip_;
    condition.size_bytes = static_cast<int64_t>(clip_->size());
    return Known(spec);
  }
  void Refine(const std::string& name, double order_key = 0) {
    engine().Post(Job(name, Refining(), order_key));
  }
  // Its whole file.
  std::string Rendered(const std::string& name) {
    EXPECT_TRUE(events_.WaitForEnd(name));
    EXPECT_TRUE(events_.ended(name).error.ok()) << events_.ended(name).error;
    return events_.file(name);
  }
  // On the engine's thread, once `name` has made so many steps.
  template <typename Action>
  void At(const std::string& name, int step, Action action) {
    events_.on_progress = [name, step, action](const JobRef& ref, Stage stage, int done) {
      if (ref.job == name && stage == Stage::kDenoise && done == step) action();
    };
  }

 private:
  std::shared_ptr<const std::string> clip_;
};

TEST_F(EngineWindowsTest, FramesLeaveBetweenItsWindows) {
  int after_first = 0;
  At("film", 3, [&] {
    EXPECT_TRUE(events_.WaitForFragments("film", 2));
    after_first = events_.fragments("film");
  });
  Start();
  Refine("film");
  const std::string file = Rendered("film");
  EXPECT_LT(after_first, events_.fragments("film"));
  const auto video = reel::testing::Decode(file);
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->luma.size(), size_t{kFrames});
  // To its owner it denoises until its last step.
  const auto progress = events_.progress("film");
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(std::count_if(progress.begin(), progress.end(),
                          [](const auto& told) { return told.first == Stage::kDecode; }),
            1);
}

TEST_F(EngineWindowsTest, AFullEncoderKeepsNoWindowWaiting) {
  // None of its bytes is taken before its last step.
  At("film", kSteps, [&] {
    EXPECT_EQ(events_.fragments("film"), 0);
    events_.ReleaseAll();
  });
  Start();
  Refine("undisturbed");
  const std::string undisturbed = Rendered("undisturbed");
  events_.Hold("film");
  Refine("film");
  EXPECT_EQ(Rendered("film"), undisturbed);
  EXPECT_TRUE(events_.contiguous());
}

TEST_F(EngineWindowsTest, IsTheSameParkedBetweenItsWindowsAndBesideOthers) {
  Start();
  Refine("undisturbed");
  const std::string undisturbed = Rendered("undisturbed");
  for (int step = 1; step < kSteps; ++step) {
    const std::string name = "parked at " + std::to_string(step);
    // Before anything else of it moves; at 2 and 4 these are frames.
    At(name, step, [&] {
      engine().Post(ParkJob{name, true});
      engine().Post(Job("neighbour of " + name, Short("another"), 1));
    });
    Refine(name);
    ASSERT_TRUE(events_.WaitForParked(name)) << step;
    ASSERT_TRUE(events_.WaitForEnd("neighbour of " + name));
    engine().Post(ResumeJob{name});
    EXPECT_EQ(Rendered(name), undisturbed) << step;
  }
}

TEST_F(EngineWindowsTest, AfterItsLastStepItIsNotParked) {
  At("film", kSteps, [&] { engine().Post(ParkJob{"film", true}); });
  Start();
  Refine("film");
  EXPECT_FALSE(Rendered("film").empty());
  EXPECT_EQ(events_.parked_bytes("film"), -1);
}

TEST_F(EngineWindowsTest, ACancelBetweenWindowsEndsItOnceAndLeavesTheOthers) {
  At("film", 3, [&] {
    EXPECT_TRUE(events_.WaitForFragments("film", 1));
    engine().Post(CancelJob{"film"});
  });
  Start();
  Refine("film");
  ASSERT_TRUE(events_.WaitForEnd("film"));
  EXPECT_EQ(ReasonOf(events_.ended("film").error), Reason::kCancelledByOwner);
  Refine("next");
  EXPECT_FALSE(Rendered("next").empty());
  EXPECT_EQ(events_.ended("film").told, 1);
}

TEST_F(EngineWindowsTest, ItsStateIsTakenBehindItsLastStep) {
  Start();
  model::GenerationSpec keeps = Refining();
  keeps.keep_state = true;
  engine().Post(Job("film", keeps));
  const std::string file = Rendered("film");
  EXPECT_EQ(events_.ended("film").result.state_size_bytes,
            static_cast<int64_t>(events_.state("film").size()));
  events_.Hold("held");
  At("held", kSteps, [&] { events_.ReleaseAll(); });
  engine().Post(Job("held", keeps));
  EXPECT_EQ(Rendered("held"), file);
  EXPECT_EQ(events_.state("held"), events_.state("film"));
  EXPECT_FALSE(events_.state("film").empty());
}

}  // namespace
}  // namespace reel::worker
