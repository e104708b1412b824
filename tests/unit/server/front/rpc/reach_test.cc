// SPDX-License-Identifier: Apache-2.0
// Whose videos a token reaches, over every method that names one.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

std::unique_ptr<Authorizer> UserAndAdmin() {
  return std::make_unique<Authorizer>(
      *TokenTable::Parse(TokenLine("use", "blue user") + TokenLine("admin", "red admin")));
}

// Of every method that names a video, by the caller of this token.
std::map<std::string, grpc::StatusCode> CallAllThatName(RpcServer& server, const std::string& name,
                                                        const std::string& token) {
  std::map<std::string, grpc::StatusCode> codes;
  const auto call = [&](const char* method, auto make, auto request) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    request.set_name(name);
    codes[method] = make(context, request).error_code();
  };
  auto& stub = server.video();
  const auto drained = [](auto reader, auto message) {
    while (reader->Read(&message)) {
    }
    return reader->Finish();
  };
  call(
      "Get",
      [&](auto& context, auto& request) {
        v1::GetVideoResponse got;
        return stub.GetVideo(&context, request, &got);
      },
      v1::GetVideoRequest());
  call(
      "Cancel",
      [&](auto& context, auto& request) {
        v1::CancelVideoResponse got;
        return stub.CancelVideo(&context, request, &got);
      },
      v1::CancelVideoRequest());
  call(
      "Delete",
      [&](auto& context, auto& request) {
        v1::DeleteVideoResponse got;
        return stub.DeleteVideo(&context, request, &got);
      },
      v1::DeleteVideoRequest());
  call(
      "Watch",
      [&](auto& context, auto& request) {
        return drained(stub.WatchVideo(&context, request), v1::WatchVideoResponse());
      },
      v1::WatchVideoRequest());
  call(
      "Download",
      [&](auto& context, auto& request) {
        return drained(stub.DownloadVideo(&context, request), v1::DownloadVideoResponse());
      },
      v1::DownloadVideoRequest());
  return codes;
}

TEST(Reach, AnAdminReachesTheVideosOfAllTenantsAndAUserItsOwn) {
  RpcServerOptions options;
  options.authorizer = UserAndAdmin();
  RpcServer server(std::move(options));
  for (const char* tenant : {"blue", "green"}) {
    const std::string id = std::string("r1-") + tenant;
    auto job = server.jobs.Add(id, tenant);
    job->Media("frames");
    job->Succeed();
    for (const auto& [method, code] : CallAllThatName(server, "videos/" + id, "admin")) {
      EXPECT_EQ(code, grpc::StatusCode::OK) << method << " " << tenant;
    }
    const bool own = id == "r1-blue";
    for (const auto& [method, code] : CallAllThatName(server, "videos/" + id, "use")) {
      EXPECT_EQ(code, own ? grpc::StatusCode::OK : grpc::StatusCode::NOT_FOUND)
          << method << " " << tenant;
    }
  }
  for (const char* token : {"use", "admin"}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", std::string("Bearer ") + token);
    v1::ListVideosResponse listed;
    EXPECT_TRUE(server.video().ListVideos(&context, v1::ListVideosRequest(), &listed).ok());
    EXPECT_EQ(server.jobs.last_query().reach.everybodys, token == std::string("admin"));
  }
}

TEST(Reach, AnAdminsStreamOfAnothersVideoEndsWithTheRole) {
  RpcServerOptions options;
  options.authorizer = UserAndAdmin();
  options.video.write_stall = absl::Seconds(2);  // a busy caller's stall must not end it first
  RpcServer server(std::move(options));
  server.jobs.Add("r1-a", "blue");
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer admin");
  v1::WatchVideoRequest request;
  request.set_name("videos/r1-a");
  auto reader = server.video().WatchVideo(&context, request);
  v1::WatchVideoResponse event;
  ASSERT_TRUE(reader->Read(&event));
  server.authorizer->Replace(*TokenTable::Parse(TokenLine("admin", "red user")));
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(See(reader->Finish()).reason, "PERMISSION_DENIED");
}

}  // namespace
}  // namespace reel::front
