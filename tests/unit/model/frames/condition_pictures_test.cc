// SPDX-License-Identifier: Apache-2.0
#include "model/frames/condition_pictures.h"

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

}  // namespace
}  // namespace reel::model
