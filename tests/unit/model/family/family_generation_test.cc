// SPDX-License-Identifier: Apache-2.0
// Memory that a generation counts, and tensors that it moves when it is parked. libtorch's "meta"
// stands for a GPU.
#include "model/family/family_generation.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace reel::model {
namespace {

class TwoPasses final : public FamilyGeneration {
 public:
  explicit TwoPasses(at::Device model_device, GenerationSpec resolved = {})
      : FamilyGeneration(std::move(resolved), model_device) {
    x = at::zeros({3, 2}, at::TensorOptions(model_device).dtype(at::kFloat));
    elsewhere = at::zeros({5}, at::kFloat);
  }

  int64_t rows() const override { return 0; }
  PassSteps pass() const override { return {done, 4}; }
  int later_steps() const override { return 3; }
  FiniteCheck CheckLatents() const override { return {{x}, step()}; }
  at::Tensor PictureLatents() const override { return x; }
  std::vector<at::Tensor> tensors() const override { return {x, elsewhere, {}}; }
  void MoveTo(at::Device where) override {
    if (fails) throw std::bad_alloc();
    moves.push_back(where);
  }

  at::Tensor x, elsewhere;
  int done = 0;
  bool fails = false;
  std::vector<at::Device> moves;
};

TEST(FamilyGeneration, CountsTheStepsOfAllPasses) {
  TwoPasses video(at::kCPU);
  video.done = 2;
  EXPECT_EQ(video.step(), 2);
  EXPECT_EQ(video.num_steps(), 7);
  video.steps_before = 5;
  EXPECT_EQ(video.step(), 7);
  EXPECT_EQ(video.num_steps(), 12);
}

TEST(FamilyGeneration, IsInItsFirstPassUntilThatIsMadeUnlessAnotherVideoOrAClipStandsForIt) {
  TwoPasses video(at::kCPU);
  video.done = 3;
  EXPECT_TRUE(video.in_first_pass());
  video.steps_before = 4;
  EXPECT_FALSE(video.in_first_pass());
  GenerationSpec promotion;
  promotion.source = Source{};
  promotion.source->begin = Source::Begin::kPromote;
  EXPECT_FALSE(TwoPasses(at::kCPU, promotion).in_first_pass());
  GenerationSpec refinement;
  refinement.conditions.emplace_back().use = Condition::Use::kRefine;
  EXPECT_FALSE(TwoPasses(at::kCPU, refinement).in_first_pass());
}

TEST(FamilyGeneration, CountsWhatTakesMemoryOfItsDeviceAlone) {
  EXPECT_EQ(TwoPasses(at::kMeta).device_bytes(), 3 * 2 * 4);
  EXPECT_EQ(TwoPasses(at::kCPU).device_bytes(), (3 * 2 + 5) * 4);
}

TEST(FamilyGeneration, MovesToTheHostAndBackWhereTheModelIsNotThere) {
  TwoPasses video(at::kMeta);
  ASSERT_TRUE(video.Park(false).ok());
  EXPECT_TRUE(video.moves.empty());
  ASSERT_TRUE(video.Park(true).ok());
  ASSERT_TRUE(video.Resume().ok());
  EXPECT_EQ(video.moves, (std::vector<at::Device>{at::kCPU, at::kMeta}));
  TwoPasses on_host(at::kCPU);
  ASSERT_TRUE(on_host.Park(true).ok());
  ASSERT_TRUE(on_host.Resume().ok());
  EXPECT_TRUE(on_host.moves.empty());
}

TEST(FamilyGeneration, SaysThatThereWasNoMemoryToMoveTo) {
  TwoPasses video(at::kMeta);
  video.fails = true;
  EXPECT_EQ(video.Park(true).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace reel::model
