// SPDX-License-Identifier: Apache-2.0
#include "client/command/video_text.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::client {
namespace {

TEST(VideoText, CountsTheStepsThatAScheduleNames) {
  v1::Video video;
  v1::VideoSpec& spec = *video.mutable_spec();
  spec.set_num_inference_steps(30);
  EXPECT_NE(DescribeVideo(video).find(", 30 steps"), std::string::npos);
  spec.clear_num_inference_steps();
  for (const double time : {1000.0, 500.0, 100.0}) spec.add_timesteps(time);
  EXPECT_EQ(NumSteps(spec), 3);
  EXPECT_NE(DescribeVideo(video).find(", 3 steps"), std::string::npos);
}

TEST(VideoText, TellsHowManyStepsWereReusedWhereSomeWere) {
  v1::Video video;
  video.mutable_stats()->set_full_steps(12);
  EXPECT_EQ(DescribeVideo(video).find("in full"), std::string::npos);
  video.mutable_stats()->set_reused_steps(8);
  EXPECT_NE(DescribeVideo(video).find("12 in full, 8 reused an earlier one's result"),
            std::string::npos);
}

TEST(VideoText, TellsWhatStreamedForItsStepsAndHowLongTheyWaited) {
  v1::Video video;
  EXPECT_EQ(DescribeVideo(video).find("streamed"), std::string::npos);
  video.mutable_stats()->set_streamed_bytes(2048);
  video.mutable_stats()->mutable_stream_stall()->set_nanos(350'000'000);
  const std::string text = DescribeVideo(video);
  EXPECT_NE(text.find(" streamed for steps, which waited 350 ms\n"), std::string::npos) << text;
}

TEST(VideoText, NamesAdaptersWithTheirScalesAsAFlagTakesThem) {
  v1::Video video;
  v1::Adapter& grain = *video.mutable_spec()->add_adapters();
  grain.set_name("grain");
  grain.set_scale(0.8);
  v1::Adapter& turn = *video.mutable_spec()->add_adapters();
  turn.set_name("turn");
  turn.set_scale(-1);
  (*turn.mutable_part_scales())["video"] = 0.5;
  (*turn.mutable_part_scales())["audio"] = 0;
  turn.add_pass_scales(1);
  turn.add_pass_scales(0.25);
  const std::string text = DescribeVideo(video);
  EXPECT_NE(text.find("grain:0.8\n"), std::string::npos) << text;
  EXPECT_NE(text.find("turn:-1,audio=0,video=0.5,pass=1/0.25\n"), std::string::npos) << text;
}

TEST(VideoText, TellsWhatItsSoundIsLike) {
  v1::Video video;
  EXPECT_EQ(DescribeVideo(video).find("sound"), std::string::npos);
  v1::SoundStats& sound = *video.mutable_stats()->mutable_sound();
  sound.set_silent_share(1);
  EXPECT_NE(DescribeVideo(video).find("silence"), std::string::npos);
  sound.set_silent_share(0.25);
  sound.set_true_peak_dbtp(-1.04);
  sound.set_loudness_lufs(-23.0);
  sound.set_clipped_samples(3);
  const std::string told = "-23.0 LUFS, peak -1.0 dBTP, 25 % silence, 3 samples clipped";
  EXPECT_NE(DescribeVideo(video).find(told), std::string::npos) << DescribeVideo(video);
}

TEST(VideoText, TellsWhatAVideoGoesOnFromAndWhatCanGoOnFromIt) {
  v1::Video video;
  EXPECT_EQ(DescribeVideo(video).find("kept state"), std::string::npos);
  video.set_source_video("videos/draft");
  video.set_state_size_bytes(2048);
  video.mutable_state_expire_time()->set_seconds(1);
  video.add_continued_by("videos/large");
  const std::string text = DescribeVideo(video);
  for (const char* const part : {"videos/draft", "videos/large", "kept state"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(VideoText, TellsTheSizeOfADraftBesideItsFile) {
  v1::Video video;
  video.mutable_spec()->set_width(256);
  video.mutable_media()->set_size_bytes(22275);
  video.mutable_media()->set_width(128);
  video.mutable_media()->set_height(96);
  EXPECT_EQ(DescribeVideo(video).find("128x96"), std::string::npos);
  video.mutable_spec()->set_stop_after_pass(1);
  EXPECT_NE(DescribeVideo(video).find("22 kB, a draft of 128x96"), std::string::npos);
}

}  // namespace
}  // namespace reel::client
