// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/errors/error.h"
#include "server/front/api/shown_error.h"

namespace reel::front {
namespace {

TEST(WithVideo, NamesTheVideoAndKeepsTheRest) {
  ErrorDetails details;
  details.metadata["step"] = "7";
  const absl::Status status =
      WithVideo(MakeError(Reason::kWorkerLost, "The worker was lost", details), "r1-x");
  google::rpc::Status proto;
  ASSERT_TRUE(proto.ParseFromString(SerializeError(status)));
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(proto.details(0).UnpackTo(&info));
  EXPECT_EQ(info.reason(), "WORKER_LOST");
  EXPECT_EQ(info.metadata().at("video"), "videos/r1-x");
  EXPECT_EQ(info.metadata().at("step"), "7");
}

TEST(WithVideo, LeavesAForeignStatusAlone) {
  EXPECT_EQ(WithVideo(absl::UnknownError("x"), "a"), absl::UnknownError("x"));
}

}  // namespace
}  // namespace reel::front
