// SPDX-License-Identifier: Apache-2.0
// The length of a video's sound, and the drawing and packing of its latents.
#include "model/ltx2/stream_latents.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx2 {
namespace {

using ltx::Draw;
using ::testing::HasSubstr;

int64_t LatentsOf(int64_t frames, double frame_rate) {
  return AudioLatents({}, frames, frame_rate).value_or(-1);
}

TEST(AudioLatents, AreTwentyFiveASecond) {
  EXPECT_EQ(LatentsOf(121, 24), 126);
  EXPECT_EQ(LatentsOf(121, 25), 121);
  EXPECT_EQ(LatentsOf(121, 30), 101);
  EXPECT_EQ(LatentsOf(1, 24), 1);
}

TEST(AudioLatents, HalvesGoToTheEvenNumber) {
  EXPECT_EQ(LatentsOf(121, 50), 60);  // 60.5
  EXPECT_EQ(LatentsOf(123, 50), 62);  // 61.5
}

TEST(AudioLatents, AVideoWithoutAnyIsRefused) {
  const absl::Status status = AudioLatents({}, 1, 60).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1 frames at 60 a second"));
}

TEST(AudioLatents, ATokenHasAllBinsOfEachChannel) {
  const at::Tensor grid = Draw(1, {1, 2, 3, 4});
  const at::Tensor tokens = PackAudio(grid);
  EXPECT_EQ(tokens.sizes(), (at::IntArrayRef{1, 3, 8}));
  EXPECT_TRUE(at::equal(tokens[0][2].slice(0, 4), grid[0][1][2]));
  EXPECT_TRUE(at::equal(UnpackAudio(tokens, 4), grid));
}

TEST(StreamNoise, IsThePicturesThenTheSoundOfOneGenerator) {
  at::Generator generator = at::detail::createCPUGenerator(7), same = generator.clone();
  const LatentSizes sizes = {
      .video = {2, 3, 5}, .video_channels = 8, .audio = 7, .audio_channels = 2, .mel_bins = 4};
  const StreamTokens noise = DrawNoise(sizes, generator, at::kCPU);
  const auto fp32 = at::TensorOptions(at::kFloat);
  EXPECT_TRUE(at::equal(noise.video, PackLatents(at::randn({1, 8, 2, 3, 5}, same, fp32))));
  EXPECT_TRUE(at::equal(noise.audio, PackAudio(at::randn({1, 2, 7, 4}, same, fp32))));
}

}  // namespace
}  // namespace reel::model::ltx2
