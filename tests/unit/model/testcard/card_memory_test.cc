// SPDX-License-Identifier: Apache-2.0
// The test card's use of counted memory.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/counted_memory.h"
#include "model/resolve.h"
#include "model/testcard/test_card.h"

namespace reel::model {
namespace {

TEST(CountedMemory, GivesWhatIsLeftAndTellsTheMost) {
  const auto memory = std::make_shared<CountedMemory>(100);
  CountedBytes one(memory);
  EXPECT_TRUE(one.Resize(60).ok());
  {
    CountedBytes other(memory);
    EXPECT_TRUE(absl::IsResourceExhausted(other.Resize(41)));
    EXPECT_EQ(memory->Read().in_use, 60) << "nothing was taken";
    EXPECT_TRUE(other.Resize(40).ok());
  }
  EXPECT_EQ(memory->Read().peak, 100);
  EXPECT_EQ(memory->Read().peak, 60) << "since the reading before";
  CountedBytes moved = std::move(one);
  EXPECT_TRUE(moved.Resize(10).ok());
  const DeviceMemory now = memory->Read();
  EXPECT_EQ(now.in_use, 10);
  EXPECT_EQ(now.held, 10);
  EXPECT_EQ(now.most, 100);
  EXPECT_EQ(now.total, 100);
}

TEST(CountedMemory, WithoutOneEverythingFits) {
  CountedBytes bytes;
  EXPECT_TRUE(bytes.Resize(int64_t{1} << 60).ok());
}

class CardMemoryTest : public ::testing::Test {
 protected:
  CardMemoryTest() {
    options_.step_time = options_.step_time_per_extra_job = options_.decode_time_per_frame =
        absl::ZeroDuration();
    options_.memory = {.weights = 5, .per_token = 10, .per_step_row = 1, .untold_per_token = 100};
  }
  // 8 tokens, 16 rows.
  std::unique_ptr<Generation> Begin(Pipeline& pipeline) {
    GenerationSpec spec;
    spec.prompt = "fox";
    spec.width = spec.height = 64;
    spec.num_frames = 9;
    spec.num_inference_steps = 3;
    auto made = *pipeline.Create(Resolve(spec, pipeline.card(), RequestLimits(), 7).spec, run_);
    EXPECT_TRUE(pipeline.BeginNext(*made, run_).ok());
    return made;
  }
  int64_t in_use() { return memory_->Read().in_use; }

  TestCardOptions options_;
  std::shared_ptr<CountedMemory> memory_ = std::make_shared<CountedMemory>(1000);
  kernels::KernelPlan plan_;
  kernels::KernelCounters counters_;
  const kernels::Execution run_{plan_, counters_, nullptr, {}};
};

TEST_F(CardMemoryTest, TakesWhatItsCardTellsAndWhatItDoesNot) {
  const auto pipeline = *MakeTestCard("card", options_, memory_);
  EXPECT_EQ(pipeline->card().weight_bytes, 5);
  EXPECT_EQ(pipeline->card().memory.token, 10);
  auto video = Begin(*pipeline);
  EXPECT_EQ(in_use(), 80);
  Generation* const stepped = video.get();
  EXPECT_TRUE(pipeline->Step({&stepped, 1}, run_)[0].ok());
  EXPECT_EQ(memory_->Read().peak, 80 + 16 + 800);
  EXPECT_EQ(in_use(), 80);
  video = nullptr;
  EXPECT_EQ(in_use(), 0);
}

TEST_F(CardMemoryTest, AStepThatDoesNotFitChangesNobody) {
  const auto pipeline = *MakeTestCard("card", options_, memory_);
  const auto a = Begin(*pipeline), b = Begin(*pipeline);
  const std::vector<Generation*> both = {a.get(), b.get()};
  for (const absl::Status& status : pipeline->Step(both, run_)) {
    EXPECT_TRUE(absl::IsResourceExhausted(status));
  }
  EXPECT_EQ(a->step(), 0);
  EXPECT_EQ(in_use(), 160);
}

TEST_F(CardMemoryTest, AParkedVideoLeavesAndComesBackIfThereIsRoom) {
  const auto pipeline = *MakeTestCard("card", options_, memory_);
  const auto video = Begin(*pipeline);
  EXPECT_TRUE(video->Park(false).ok());
  EXPECT_EQ(in_use(), 80);
  EXPECT_TRUE(video->Park(true).ok());
  EXPECT_EQ(in_use(), 0);
  EXPECT_TRUE(memory_->Take(950).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(video->Resume()));
  memory_->Give(950);
  EXPECT_TRUE(video->Resume().ok());
  EXPECT_EQ(in_use(), 80);
}

}  // namespace
}  // namespace reel::model
