// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/server/front/rpc/rpc_fixture.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "server/front/health/health_service.h"
#include "tests/fakes/connected.h"

namespace reel::front {

RpcServer::RpcServer(RpcServerOptions options)
    : unsent_requests(options.unsent),
      authorizer(options.authorizer ? std::move(options.authorizer)
                                    : std::make_unique<Authorizer>()),
      pump(std::make_unique<StreamPump>(2, options.video.write_stall / 8)) {
  const CallEnvironment environment{*authorizer, observer, open_calls,        unsent_requests,
                                    probes,      callers,  options.from_peers};
  video_service = MakeVideoService(environment, jobs, *pump, options.video);
  server_service = MakeServerService(
      environment, jobs,
      {"1.2.3", "abc", std::chrono::steady_clock::now(), options.video.rules, {{"default", 3}}});
  health_service = MakeHealthService(environment, board);
  GrpcServerOptions server_options;
  server_options.address = options.address;
  server_options.reflection = true;
  auto started = GrpcServer::Start(
      server_options, {video_service.get(), server_service.get(), health_service.get()});
  EXPECT_TRUE(started.ok()) << started.status();
  grpc = *std::move(started);
  auto channel = NewChannel();
  video_stub_ = v1::VideoService::NewStub(channel);
  server_stub_ = v1::ServerService::NewStub(channel);
}

RpcServer::~RpcServer() {
  board.Close();
  pump->CloseAll();
  unsent_requests.Close();
  grpc->Shutdown(absl::Seconds(5));
  EXPECT_EQ(open_calls.count(), 0);
}

std::shared_ptr<grpc::Channel> RpcServer::NewChannel(
    const grpc::ChannelArguments& arguments) const {
  return tests::Connected(
      grpc::CreateCustomChannel(grpc->address(), grpc::InsecureChannelCredentials(), arguments));
}

ErrorSeen See(const grpc::Status& status) {
  ErrorSeen seen;
  seen.code = status.error_code();
  google::rpc::Status proto;
  EXPECT_TRUE(proto.ParseFromString(status.error_details()));
  EXPECT_LE(status.error_details().size(), 4096U);
  for (const auto& any : proto.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::BadRequest bad;
    if (any.UnpackTo(&info)) {
      EXPECT_EQ(info.domain(), "reel");
      seen.reason = info.reason();
      seen.metadata = {info.metadata().begin(), info.metadata().end()};
    } else if (any.UnpackTo(&bad)) {
      for (const auto& violation : bad.field_violations()) seen.fields.push_back(violation.field());
    }
  }
  return seen;
}

std::string TokenLine(const std::string& token, const std::string& tenant_and_role) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash);
  return absl::BytesToHexString(
             absl::string_view(reinterpret_cast<const char*>(hash), sizeof hash)) +
         " " + tenant_and_role + "\n";
}

}  // namespace reel::front
