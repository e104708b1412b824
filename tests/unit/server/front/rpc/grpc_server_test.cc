// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/grpc_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/front/config/address.h"
#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

TEST(GrpcServer, ReportsTheRealPort) {
  GrpcServerOptions options;
  options.address = "127.0.0.1:0";
  auto server = GrpcServer::Start(options, {});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT(ParseAddress((*server)->address())->port, 0);
}

TEST(GrpcServer, ASecondOneOnThePortIsRefused) {
  GrpcServerOptions options;
  options.address = "127.0.0.1:0";
  auto first = GrpcServer::Start(options, {});
  ASSERT_TRUE(first.ok());
  options.address = (*first)->address();
  const auto second = GrpcServer::Start(options, {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), ::testing::HasSubstr(options.address));
}

TEST(GrpcServer, TakesRequestsUpToFourMebibytes) {
  RpcServer server;
  server.jobs.Add("r1-a");
  const auto create = [&](size_t bytes) {
    grpc::ClientContext context;
    v1::CreateVideoRequest request;
    v1::CreateVideoResponse response;
    request.mutable_spec()->add_conditions()->set_image(std::string(bytes, 'x'));
    return server.video().CreateVideo(&context, request, &response).error_code();
  };
  EXPECT_EQ(create(3'670'016), grpc::StatusCode::OK);
  EXPECT_EQ(create(5 << 20), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(GrpcServer, ShutsDownWithinItsGraceWithAStreamOpen) {
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  v1::GenerateVideoResponse response;
  ASSERT_TRUE(reader->Read(&response));
  server.grpc->Shutdown(absl::Milliseconds(50));
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_EQ(server.jobs.WaitForLeave().id, "r1-a");
}

TEST(GrpcServer, RaisesTheDescriptorLimit) { EXPECT_GE(RaiseDescriptorLimit(), 1024); }

}  // namespace
}  // namespace reel::front
