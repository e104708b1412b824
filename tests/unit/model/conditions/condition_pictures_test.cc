// SPDX-License-Identifier: Apache-2.0
#include "model/conditions/condition_pictures.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"

namespace reel::model {
namespace {

constexpr PictureSize kSize = {6, 4};

// A video of 17 frames with a clip of `frames` at `frame_index`; every value is 255.
GenerationSpec Video(int frames, int frame_index) {
  GenerationSpec spec;
  spec.width = kSize.width;
  spec.height = kSize.height;
  spec.num_frames = 17;
  ConditionPixels pixels = {kSize.width, kSize.height, frames, {}};
  pixels.rgb.assign(static_cast<size_t>(frames) * 6 * 4 * 3, 255);
  Condition condition;
  condition.frame_index = frame_index;
  condition.pixels = std::make_shared<const ConditionPixels>(std::move(pixels));
  spec.conditions = {condition};
  return spec;
}

std::string Refusal(const GenerationSpec& spec, int frames_per_latent) {
  const auto status = ConditionsOf(spec, kSize, frames_per_latent, at::kFloat).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(ConditionPictures, AreCutToWhatLatentsAndTheVideoHaveRoomFor) {
  const auto of = [](int frames, int at, int frames_per_latent) {
    return ConditionsOf(Video(frames, at), kSize, frames_per_latent, at::kFloat)
        ->front()
        .pixels.size(2);
  };
  EXPECT_EQ(of(12, 0, 8), 9);
  EXPECT_EQ(of(12, 0, 4), 9);
  EXPECT_EQ(of(14, 0, 4), 13);
  EXPECT_EQ(of(14, 8, 4), 9);  // nine frames are left of the video
}

TEST(ConditionPictures, AreScaledToThePass) {
  const auto conditions = ConditionsOf(Video(1, 0), {12, 8}, 8, at::kBFloat16);
  ASSERT_TRUE(conditions.ok()) << conditions.status();
  const PictureCondition& picture = conditions->front();
  EXPECT_EQ(picture.pixels.sizes(), at::IntArrayRef({1, 3, 1, 8, 12}));
  EXPECT_EQ(picture.pixels.scalar_type(), at::kBFloat16);
  EXPECT_EQ(picture.pixels.max().item<float>(), 1);
  EXPECT_EQ(picture.strength, 1);
}

TEST(ConditionPictures, AreRefusedByRule) {
  using ::testing::HasSubstr;
  EXPECT_THAT(Refusal(Video(9, 4), 8), HasSubstr("must be a multiple of 8"));
  EXPECT_THAT(Refusal(Video(4, 4), 4), HasSubstr("fewer than 5 frames"));
  EXPECT_THAT(Refusal(Video(1, 17), 8), HasSubstr("the last frame is 16"));
  GenerationSpec other = Video(1, 0);
  other.width = 12;
  EXPECT_THAT(Refusal(other, 8), HasSubstr("6x4 pixels after scaling, the video 12x4"));
  EXPECT_THAT(Refusal(WithoutPixels(Video(1, 0)), 8), HasSubstr("no decoded pixels"));
}

TEST(ConditionPictures, BeginAtTheFirstFrameOfALatentWhereTheModelWantsIt) {
  using ::testing::HasSubstr;
  const auto taken = [](int frames, int at) {
    return ConditionsOf(Video(frames, at), kSize, 8, at::kFloat, ConditionPlaces::kFirstOfALatent);
  };
  EXPECT_EQ(taken(20, 1)->front().pixels.size(2), 9);
  EXPECT_EQ(taken(20, 9)->front().pixels.size(2), 1);  // no whole latent more is left
  EXPECT_EQ(taken(1, 0)->front().pixels.size(2), 1);
  const auto refusal = [&](int at) {
    const absl::Status status = taken(1, at).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(refusal(2),
              HasSubstr("begins at frame 2, which must be 0 or a multiple of 8 plus 1"));
  EXPECT_THAT(refusal(2), HasSubstr("nearest: 1"));
  EXPECT_THAT(refusal(8), HasSubstr("nearest: 9"));
  EXPECT_THAT(refusal(16), HasSubstr("nearest: 9"));  // 17 is behind the last frame
}

TEST(HasOneFirstPicture, IsNotSoOfClipsStrengthsOrLaterPictures) {
  GenerationSpec spec = Video(1, 0);
  EXPECT_TRUE(HasOneFirstPicture(spec));
  spec.conditions[0].strength = 0.5;
  EXPECT_FALSE(HasOneFirstPicture(spec));
  EXPECT_FALSE(HasOneFirstPicture(Video(1, 9)));
  spec = Video(9, 0);
  spec.conditions[0].kind = Condition::Kind::kVideo;
  EXPECT_FALSE(HasOneFirstPicture(spec));
  spec = Video(1, 0);
  spec.conditions.push_back(spec.conditions[0]);
  EXPECT_FALSE(HasOneFirstPicture(spec));
  EXPECT_FALSE(HasOneFirstPicture(GenerationSpec()));
}

}  // namespace
}  // namespace reel::model
