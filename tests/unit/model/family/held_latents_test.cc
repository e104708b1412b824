// SPDX-License-Identifier: Apache-2.0
#include "model/family/held_latents.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/family/made_passes.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kFrames = 5, kSound = 34;  // 33 frames at 24 a second, 25 of sound

at::Tensor Numbers(at::IntArrayRef shape, int64_t first) {
  return (at::arange(c10::multiply_integers(shape), at::kFloat) + first).view(shape);
}

class HeldLatentsTest : public ::testing::Test {
 protected:
  HeldLatentsTest() {
    made_.latents = Numbers({1, 2, kFrames, 1, 1}, 0);
    made_.audio_latents = Numbers({1, 1, kSound, 2}, 100);
    made_.decode_noise = Numbers({1, 2, kFrames, 1, 1}, 500);
  }
  HeldLatents Held() const {
    const auto held = HeldOf(spec_, StateOf(made_, 1), layout_);
    EXPECT_TRUE(held.ok()) << held.status();
    return held.ok() ? *held : HeldLatents();
  }
  std::string Refusal() const {
    return std::string(HeldOf(spec_, StateOf(made_, 1), layout_).status().message());
  }
  void Retake(double begin, double end) {
    spec_.num_frames = 33;
    spec_.frame_rate = 24;
    spec_.source = Source{.begin = Source::Begin::kRetake};
    spec_.source->retake = {.begin = begin, .end = end};
  }
  void Extend(int num_frames, int overlap) {
    spec_.num_frames = num_frames + overlap;
    spec_.frame_rate = 24;
    spec_.source = Source{.begin = Source::Begin::kExtend};
    spec_.source->extend = {num_frames, overlap};
    layout_.pictures[2] = (spec_.num_frames - 1) / 8 + 1;
  }

  MadePasses made_;
  GenerationSpec spec_;
  LatentLayout layout_ = {.pictures = {1, 2, kFrames, 1, 1},
                          .sound = {1, 1, kSound, 2},
                          .frames_per_latent = 8,
                          .sound_per_second = 25};
};

TEST_F(HeldLatentsTest, OfARetakeLieOnBothSidesOfItsStretch) {
  Retake(0.4, 0.6);  // the latent of frames 9 to 16
  const HeldLatents held = Held();
  ASSERT_EQ(held.pictures.size(), 2u);
  EXPECT_EQ(held.pictures[0].first, 0);
  EXPECT_TRUE(held.pictures[0].values.equal(made_.latents.slice(2, 0, 2)));
  EXPECT_EQ(held.pictures[1].first, 3);
  EXPECT_TRUE(held.pictures[1].values.equal(made_.latents.slice(2, 3)));
  ASSERT_EQ(held.sound.size(), 2u);
  EXPECT_TRUE(held.sound[0].values.equal(made_.audio_latents.slice(2, 0, 9)));
  EXPECT_EQ(held.sound[1].first, 18);
  ASSERT_EQ(held.decode_noise.size(), 2u);
  EXPECT_TRUE(held.decode_noise[1].values.equal(made_.decode_noise.slice(2, 3)));
  EXPECT_FALSE(held.before.defined());
}

TEST_F(HeldLatentsTest, OfARetakeAtAnEdgeLieOnOneSideAndOfTheWholeNowhere) {
  Retake(0, 0.01);
  HeldLatents held = Held();
  ASSERT_EQ(held.pictures.size(), 1u);
  EXPECT_EQ(held.pictures[0].first, 1);
  Retake(0, 33.0 / 24);
  held = Held();
  EXPECT_TRUE(held.pictures.empty());
  EXPECT_TRUE(held.sound.empty());
}

TEST_F(HeldLatentsTest, OfWhatIsKeptAreAll) {
  Retake(0, 1);
  spec_.source->retake.keep_sound = true;
  const HeldLatents held = Held();
  ASSERT_EQ(held.sound.size(), 1u);
  EXPECT_TRUE(held.sound[0].values.equal(made_.audio_latents));
  spec_.source->retake = {0, 1, true, false};
  EXPECT_TRUE(Held().pictures[0].values.equal(made_.latents));
}

TEST_F(HeldLatentsTest, OfAnExtensionAreTheLastOfTheSourceWithSomeInFrontForTheDecode) {
  Extend(24, 9);
  const HeldLatents held = Held();
  ASSERT_EQ(held.pictures.size(), 1u);
  EXPECT_EQ(held.pictures[0].first, 0);
  EXPECT_TRUE(held.pictures[0].values.equal(made_.latents.slice(2, 3)));
  EXPECT_TRUE(held.before.equal(made_.latents.slice(2, 0, 3)));
  EXPECT_TRUE(held.noise_before.equal(made_.decode_noise.slice(2, 0, 3)));
  ASSERT_EQ(held.sound.size(), 1u);  // from frame 24 on, which is a second
  EXPECT_TRUE(held.sound[0].values.equal(made_.audio_latents.slice(2, 25)));
}

TEST_F(HeldLatentsTest, OfAnExtensionMayBeAllAndAreNeverMore) {
  Extend(8, 33);
  const HeldLatents held = Held();
  EXPECT_TRUE(held.pictures[0].values.equal(made_.latents));
  EXPECT_FALSE(held.before.defined());
  Extend(8, 41);
  EXPECT_THAT(Refusal(), HasSubstr("33 frames, fewer than the overlap, which has 41"));
}

TEST_F(HeldLatentsTest, AreRefusedWhereTheyHaveAnotherShape) {
  Retake(0, 1);
  layout_.pictures[2] = kFrames + 1;
  EXPECT_THAT(Refusal(), HasSubstr("latents are [1,2,5,1,1], but of this model [1,2,6,1,1]"));
  Extend(8, 9);
  layout_.pictures[3] = 2;
  EXPECT_THAT(Refusal(), HasSubstr("but of this model [1,2,any,2,1]"));
  layout_.pictures[3] = 1;
  made_.audio_latents = at::Tensor();
  EXPECT_THAT(Refusal(), HasSubstr("the state has no audio_latents"));
}

TEST(HeldPieces, AreCopiedIntoTheirPlaces) {
  at::Tensor values = at::zeros({1, 1, 4});
  PutPieces({{at::ones({1, 1, 1}), 0}, {at::full({1, 1, 2}, 2.0), 2}}, values);
  EXPECT_TRUE(values.equal(at::tensor({1.0f, 0.0f, 2.0f, 2.0f}).view({1, 1, 4})));
  EXPECT_TRUE(Behind({}, values).equal(values));
  EXPECT_EQ(Behind(values, values).size(2), 8);
}

}  // namespace
}  // namespace reel::model
