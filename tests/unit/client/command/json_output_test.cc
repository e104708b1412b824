// SPDX-License-Identifier: Apache-2.0
#include "client/command/json_output.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "reel/v1/video.pb.h"

namespace reel::client {
namespace {

TEST(JsonOf, IsProtobufsOwn) {
  v1::Video video;
  video.set_name("videos/a");
  video.set_state(v1::VIDEO_STATE_QUEUED);
  video.mutable_spec()->set_num_frames(9);
  EXPECT_EQ(JsonOf(video),
            "{\"name\":\"videos/a\",\"state\":\"VIDEO_STATE_QUEUED\",\"spec\":{\"numFrames\":9}}");
}

TEST(JsonOf, ShowsKnownDetailsAndLeavesOutOthers) {
  v1::Video video;
  google::rpc::ErrorInfo info;
  info.set_reason("WORKER_LOST");
  video.mutable_error()->set_message("gone");
  video.mutable_error()->add_details()->PackFrom(info);
  EXPECT_NE(JsonOf(video).find("WORKER_LOST"), std::string::npos);
  video.mutable_error()->add_details()->set_type_url("type.googleapis.com/of.another.Time");
  EXPECT_NE(JsonOf(video).find("\"message\":\"gone\""), std::string::npos);
}

TEST(JsonString, QuotesEverything) {
  EXPECT_EQ(JsonString("a\"\\\n"), "\"a\\\"\\\\\\n\"");
  EXPECT_EQ(JsonString(""), "\"\"");
}

}  // namespace
}  // namespace reel::client
