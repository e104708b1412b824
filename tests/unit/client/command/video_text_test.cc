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

}  // namespace
}  // namespace reel::client
