// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/rpc/call_context.h"
#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

TEST(ToGrpc, EveryReasonKeepsItsCodeAndName) {
  for (const ReasonRow& row : AllReasons()) {
    ErrorDetails details;
    details.metadata["value"] = "7";
    const grpc::Status status = ToGrpc(MakeError(row.reason, "What happened", details));
    const ErrorSeen seen = See(status);
    EXPECT_EQ(static_cast<int>(seen.code), static_cast<int>(row.code)) << row.name;
    EXPECT_EQ(seen.reason, row.name);
    EXPECT_EQ(seen.metadata.at("value"), "7");
    EXPECT_EQ(status.error_message(), "What happened");
  }
}

TEST(ToGrpc, OkIsOk) { EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok()); }

TEST(ToGrpc, AForeignErrorShowsNothingOfItself) {
  const grpc::Status status = ToGrpc(absl::NotFoundError("/secret/path: no such file"));
  const ErrorSeen seen = See(status);
  EXPECT_EQ(seen.code, grpc::StatusCode::INTERNAL);
  EXPECT_EQ(seen.reason, "INTERNAL");
  EXPECT_THAT(status.error_message(), ::testing::Not(::testing::HasSubstr("secret")));
}

TEST(ToGrpc, ACancelledCallIsCancelled) {
  EXPECT_EQ(See(ToGrpc(absl::CancelledError())).code, grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace reel::front
