// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>

#include "server/front/rpc/grpc_server.h"

namespace reel::front {
namespace {

TEST(GrpcLog, ItsErrorsAreLinesOfOurs) {
  TakeGrpcLog();
  ::testing::internal::CaptureStderr();
  gpr_log(GPR_ERROR, "connection %d said \"no\"\nand left", 7);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text,
              ::testing::AllOf(::testing::HasSubstr("\"level\":\"warning\""),
                               ::testing::HasSubstr("connection 7 said \\\"no\\\"\\nand left"),
                               ::testing::EndsWith("}\n")));
}

TEST(GrpcLog, ProtobufsLinesAreLinesOfOurs) {
  TakeProtobufLog();
  ::testing::internal::CaptureStderr();
  GOOGLE_LOG(ERROR) << "field x\nis broken";
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, ::testing::AllOf(::testing::HasSubstr("\"msg\":\"protobuf\""),
                                     ::testing::HasSubstr("field x\\nis broken"),
                                     ::testing::EndsWith("}\n")));
}

}  // namespace
}  // namespace reel::front
