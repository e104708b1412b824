// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/video_answers.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"

namespace reel::front {
namespace {

ListPage PageOf(int videos, size_t label_bytes, bool more) {
  ListPage page;
  page.more = more;
  for (int i = 0; i < videos; ++i) {
    Video video;
    video.id = "v" + std::to_string(i);
    video.create_time = absl::FromUnixSeconds(1'700'000'000 - i);
    video.labels["l"] = std::string(label_bytes, 'x');
    page.videos.push_back(video);
  }
  return page;
}

TEST(VideoAnswers, APageEndsBeforeItIsTooLarge) {
  v1::ListVideosResponse small;
  PageToProto(PageOf(3, 1, false), {}, small);
  EXPECT_EQ(small.videos_size(), 3);
  EXPECT_EQ(small.next_page_token(), "");
  v1::ListVideosResponse more;
  PageToProto(PageOf(3, 1, true), {}, more);
  EXPECT_NE(more.next_page_token(), "");
  v1::ListVideosResponse large;
  PageToProto(PageOf(100, 100'000, false), {}, large);
  EXPECT_LT(large.videos_size(), 100);
  EXPECT_LT(large.ByteSizeLong(), size_t{1} << 20);
  EXPECT_NE(large.next_page_token(), "");
}

TEST(VideoAnswers, AnEstimateSaysWhyNot) {
  CostEstimate estimate;
  estimate.queue = absl::Seconds(2);
  v1::EstimateVideoResponse yes;
  EstimateToProto(estimate, yes);
  EXPECT_TRUE(yes.admissible());
  EXPECT_EQ(yes.queue().seconds(), 2);
  estimate.refusal = MakeError(Reason::kQueueFull, "full");
  v1::EstimateVideoResponse no;
  EstimateToProto(estimate, no);
  EXPECT_FALSE(no.admissible());
  EXPECT_EQ(no.refusal().message(), "full");
}

TEST(VideoAnswers, AnEstimateSaysWhatEachKindOfDeviceWouldTake) {
  CostEstimate estimate;
  estimate.devices = {{"2 x NVIDIA H200", absl::Seconds(10), absl::Seconds(11), true},
                      {"NVIDIA H200", absl::Seconds(19), absl::Seconds(20), false}};
  v1::EstimateVideoResponse proto;
  EstimateToProto(estimate, proto);
  ASSERT_EQ(proto.devices_size(), 2);
  EXPECT_EQ(proto.devices(0).device(), "2 x NVIDIA H200");
  EXPECT_EQ(proto.devices(0).run_p50().seconds(), 10);
  EXPECT_TRUE(proto.devices(0).observed());
  EXPECT_EQ(proto.devices(1).run_p90().seconds(), 20);
  EXPECT_FALSE(proto.devices(1).observed());
}

}  // namespace
}  // namespace reel::front
