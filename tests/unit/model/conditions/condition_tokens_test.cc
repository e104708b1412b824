// SPDX-License-Identifier: Apache-2.0
#include "model/conditions/condition_tokens.h"

#include <ATen/CPUGeneratorImpl.h>

#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/random.h"

namespace reel::model {
namespace {

constexpr int64_t kChannels = 3, kRows = 2, kColumns = 2, kOfFrame = kRows * kColumns;

at::Tensor Latents(int64_t frames, double value) {
  return at::full({1, kChannels, frames, kRows, kColumns}, value);
}

// Where latents are said to be: their frame, and the clip's frame that they begin at.
at::Tensor Coordinates(const LatentShape& shape, int64_t frame_index) {
  const at::Tensor frames = at::arange(shape.frames, at::kFloat).repeat_interleave(kOfFrame);
  return at::stack({frames, at::full_like(frames, static_cast<double>(frame_index)), frames});
}

class ConditionTokensTest : public ::testing::Test {
 protected:
  ConditionTokens Of(int64_t frames) {
    return {{frames, kRows, kColumns}, Latents(frames, 0), {8, Coordinates}};
  }
  // The tokens of one latent frame of the clip.
  static at::Tensor Frame(const at::Tensor& tokens, int64_t frame) {
    return tokens.slice(1, frame * kOfFrame, (frame + 1) * kOfFrame);
  }

  at::Generator generator_ = at::detail::createCPUGenerator(7);
};

TEST_F(ConditionTokensTest, WithoutConditionsAreNoiseThatNothingPins) {
  const ClipTokens tokens = Of(3).Finish();
  EXPECT_EQ(tokens.x.sizes(), at::IntArrayRef({1, 3 * kOfFrame, kChannels}));
  EXPECT_FALSE(tokens.mask.defined());
  EXPECT_FALSE(tokens.initial.defined());
  EXPECT_EQ(tokens.extra, 0);
  EXPECT_TRUE(tokens.coordinates.equal(Coordinates({3, kRows, kColumns}, 0)));
}

TEST_F(ConditionTokensTest, TakeThePlaceOfFirstFramesAsStronglyAsTheyAreAsked) {
  ConditionTokens building = Of(4);
  const at::Generator before = generator_.clone();
  building.Add({.latents = Latents(2, 8), .frame_index = 0, .strength = 0.75}, generator_);
  const ClipTokens tokens = building.Finish();
  EXPECT_EQ(tokens.extra, 0);
  EXPECT_TRUE(tokens.x.slice(1, 0, 2 * kOfFrame).eq(6).all().item<bool>());
  EXPECT_TRUE(tokens.x.slice(1, 2 * kOfFrame).eq(0).all().item<bool>());
  EXPECT_TRUE(tokens.mask.slice(1, 0, 2 * kOfFrame).eq(0.75).all().item<bool>());
  EXPECT_TRUE(tokens.mask.slice(1, 2 * kOfFrame).eq(0).all().item<bool>());
  EXPECT_TRUE(tokens.initial.equal(tokens.x));
  EXPECT_TRUE(generator_.get_state().equal(before.get_state())) << "nothing is drawn";
}

TEST_F(ConditionTokensTest, PutTheFirstLatentsOfALaterClipInFrontOfTheVideo) {
  ConditionTokens building = Of(8);
  building.Add({.latents = Latents(3, 5), .frame_index = 16, .strength = 1}, generator_);
  const ClipTokens tokens = building.Finish();
  EXPECT_EQ(tokens.extra, 2 * kOfFrame);
  EXPECT_TRUE(tokens.x.slice(1, 0, tokens.extra).eq(5).all().item<bool>());
  const at::Tensor video = tokens.x.slice(1, tokens.extra);
  for (int64_t frame = 0; frame < 8; ++frame) {
    // The third latent has its place at 16 / 8 + 2.
    EXPECT_TRUE(Frame(video, frame).eq(frame == 4 ? 5 : 0).all().item<bool>()) << frame;
  }
  EXPECT_TRUE(
      tokens.coordinates.slice(1, 0, tokens.extra).equal(Coordinates({2, kRows, kColumns}, 16)));
}

TEST_F(ConditionTokensTest, DrawNoiseForExtraTokensInTheOrderOfConditions) {
  at::Generator same = generator_.clone();
  ConditionTokens building = Of(8);
  building.Add({.latents = Latents(1, 5), .frame_index = 9, .strength = 0.5}, generator_);
  building.Add({.latents = Latents(2, 3), .frame_index = 40, .strength = 0}, generator_);
  const ClipTokens tokens = building.Finish();
  const auto drawn = [&](int64_t frames) {
    return DrawNormal({1, kChannels, frames, kRows, kColumns}, same, at::TensorOptions(at::kFloat));
  };
  const at::Tensor first = PackLatents(at::lerp(drawn(1), Latents(1, 5), 0.5));
  const at::Tensor second = PackLatents(drawn(2));
  EXPECT_TRUE(tokens.x.slice(1, 0, 3 * kOfFrame).equal(at::cat({first, second}, 1)));
  EXPECT_EQ(tokens.extra, 3 * kOfFrame);
}

TEST(TokensBehindPicture, KeepThePictureAndPinIt) {
  at::Generator generator = at::detail::createCPUGenerator(3);
  const at::Tensor noise = DrawNoise({3, kRows, kColumns}, kChannels, generator, at::kCPU);
  const ClipTokens tokens = TokensBehindPicture(Latents(1, 2), noise);
  EXPECT_TRUE(tokens.x.slice(1, 0, kOfFrame).eq(2).all().item<bool>());
  EXPECT_TRUE(tokens.x.slice(1, kOfFrame).equal(PackLatents(noise).slice(1, kOfFrame)));
  EXPECT_TRUE(tokens.mask.slice(1, 0, kOfFrame).eq(1).all().item<bool>());
  EXPECT_TRUE(tokens.mask.slice(1, kOfFrame).eq(0).all().item<bool>());
  EXPECT_FALSE(tokens.initial.defined());
}

}  // namespace
}  // namespace reel::model
