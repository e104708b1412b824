// SPDX-License-Identifier: Apache-2.0
// Tests the rules of every call: tokens, metadata, trailers.
#include "server/front/rpc/call_context.h"

#include <gmock/gmock.h>
#include <grpc/support/time.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

constexpr char kUuid[] = "123e4567-e89b-12d3-a456-426614174000";
constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

std::unique_ptr<Authorizer> WithTokens() {
  return std::make_unique<Authorizer>(
      *TokenTable::Parse(TokenLine("view", "blue viewer") + TokenLine("use", "blue user")));
}

std::string Trailer(const grpc::ClientContext& context, const char* key) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find(key);
  return found == trailers.end() ? "" : std::string(found->second.data(), found->second.size());
}

// Calls a method by name with an empty message, and drops what it sends.
grpc::Status CallAnything(RpcServer& server, const MethodRow& row, const std::string& token) {
  grpc::GenericStub stub(server.NewChannel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  grpc::CompletionQueue queue;
  const std::string path = "/" + std::string(row.service) + "/" + std::string(row.name);
  auto call = stub.PrepareCall(&context, path, &queue);
  void* tag = nullptr;
  bool ok = false;
  const auto wait = [&] {
    queue.Next(&tag, &ok);
    return ok;
  };
  call->StartCall(nullptr);
  wait();
  const grpc::Slice nothing;
  grpc::ByteBuffer message(&nothing, 1);
  call->WriteLast(message, grpc::WriteOptions(), nullptr);
  wait();
  call->Read(&message, nullptr);
  // A stream that was let in would go on.
  if (wait() && row.streams) context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status;
}

TEST(Access, EveryMethodAsksForItsToken) {
  RpcServerOptions options;
  options.authorizer = WithTokens();
  RpcServer server(std::move(options));
  server.jobs.Add("r1-a", "blue");
  for (const MethodRow& row : AllMethods()) {
    const bool open = !row.role.has_value();
    for (const char* token : {"", "unknown"}) {
      const grpc::Status status = CallAnything(server, row, token);
      EXPECT_EQ(status.error_code() == grpc::StatusCode::UNAUTHENTICATED, !open)
          << row.name << " '" << token << "' " << status.error_message();
    }
    const grpc::Status viewer = CallAnything(server, row, "view");
    EXPECT_EQ(viewer.error_code() == grpc::StatusCode::PERMISSION_DENIED,
              !open && *row.role > Role::kViewer)
        << row.name << " " << viewer.error_message();
    const grpc::Status user = CallAnything(server, row, "use");
    EXPECT_NE(user.error_code(), grpc::StatusCode::UNAUTHENTICATED) << row.name;
    EXPECT_EQ(user.error_code() == grpc::StatusCode::PERMISSION_DENIED,
              !open && *row.role > Role::kUser)
        << row.name;
  }
}

TEST(Access, ComesBeforeEveryOtherCheck) {
  RpcServerOptions options;
  options.authorizer = WithTokens();
  RpcServer server(std::move(options));
  grpc::ClientContext context;
  v1::GetVideoRequest request;
  request.set_name("not a name");
  v1::GetVideoResponse response;
  EXPECT_EQ(See(server.video().GetVideo(&context, request, &response)).reason, "UNAUTHENTICATED");
}

TEST(Access, OfTwoTokensNoneCounts) {
  RpcServerOptions options;
  options.authorizer = WithTokens();
  RpcServer server(std::move(options));
  for (const char* second : {"use", "unknown"}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer use");
    context.AddMetadata("authorization", std::string("Bearer ") + second);
    v1::GetServerInfoResponse response;
    EXPECT_EQ(
        See(server.server().GetServerInfo(&context, v1::GetServerInfoRequest(), &response)).reason,
        "UNAUTHENTICATED");
  }
}

TEST(Access, IsDecidedByTheHeadersAlone) {
  RpcServerOptions options;
  options.authorizer = WithTokens();
  RpcServer server(std::move(options));
  grpc::ClientContext context;
  // As a stream of its own the request is never sent.
  grpc::GenericStub stub(server.NewChannel());
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(&context, "/reel.v1.VideoService/CreateVideo", &queue);
  call->StartCall(nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  EXPECT_EQ(See(status).reason, "UNAUTHENTICATED");
}

TEST(Access, ARevokedTokensStreamEnds) {
  RpcServerOptions options;
  options.authorizer = WithTokens();
  options.video.write_stall = absl::Seconds(2);  // a busy caller's stall must not end it first
  RpcServer server(std::move(options));
  server.jobs.Add("r1-a", "blue");
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer use");
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  v1::GenerateVideoResponse event;
  ASSERT_TRUE(reader->Read(&event));
  server.authorizer->Replace(*TokenTable::Parse(TokenLine("view", "blue viewer")));
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(See(reader->Finish()).reason, "UNAUTHENTICATED");
  EXPECT_EQ(server.jobs.WaitForLeave().id, "r1-a");
}

TEST(Requests, ThatCannotBeDecodedAreRefusedByNameAndCounted) {
  RpcServer server;
  grpc::GenericStub stub(server.NewChannel());
  for (const char* bytes : {"\xff", "\x0a\x7fx", "\x0a\x01\xff"}) {  // the last: not UTF-8
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer sent(&slice, 1);
    auto call = stub.PrepareUnaryCall(&context, "/reel.v1.VideoService/GetVideo", sent, &queue);
    call->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    const ErrorSeen seen = See(status);
    EXPECT_EQ(seen.code, grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(seen.reason, "UNDECODABLE_REQUEST");
    EXPECT_EQ(seen.metadata.at("message"), "reel.v1.GetVideoRequest");
  }
  server.observer.WaitUntil([](auto& o) {
    return o.ended[{Method::kGetVideo, absl::StatusCode::kInvalidArgument}] == 3;
  });
}

TEST(Requests, ThatDoNotArriveEndTheirCall) {
  RpcServerOptions options;
  options.unsent.patience = absl::Milliseconds(20);
  RpcServer server(std::move(options));
  for (const char* method : {"GetVideo", "GenerateVideo"}) {
    grpc::GenericStub stub(server.NewChannel());
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const std::string path = std::string("/reel.v1.VideoService/") + method;
    auto call = stub.PrepareCall(&context, path, &queue);
    call->StartCall(nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    grpc::Status status;
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    EXPECT_EQ(See(status).reason, "REQUEST_NOT_RECEIVED") << method;
  }
}

TEST(Deadlines, BeyondTheYear2262AreNoDeadlines) {
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  // What 2562047 hours come to; the client's own library counts nanoseconds, too.
  context.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_hours(2'562'047, GPR_TIMESPAN)));
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  v1::GenerateVideoResponse event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(server.jobs.WaitForCreate().timeout, absl::Minutes(30));
  context.TryCancel();
}

TEST(Metadata, AboveEightKibibytesIsRefusedByName) {
  RpcServer server;
  const auto call = [&](size_t bytes) {
    grpc::ClientContext context;
    context.AddMetadata("x-junk", std::string(bytes, 'j'));
    v1::GetServerInfoResponse response;
    return server.server().GetServerInfo(&context, v1::GetServerInfoRequest(), &response);
  };
  EXPECT_TRUE(call(7'000).ok());
  const ErrorSeen seen = See(call(9'000));
  EXPECT_EQ(seen.code, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(seen.reason, "METADATA_TOO_LARGE");
}

TEST(Metadata, OneCallersExcessEndsNobodyElsesCall) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  // One connection for all.
  grpc::ClientContext stream_context;
  auto reader = server.video().GenerateVideo(&stream_context, v1::GenerateVideoRequest());
  v1::GenerateVideoResponse event;
  ASSERT_TRUE(reader->Read(&event));
  for (int i = 0; i < 5; ++i) {
    grpc::ClientContext context;
    context.AddMetadata("x-junk", std::string(60'000, 'j'));
    v1::GetVideoRequest request;
    request.set_name("videos/r1-a");
    v1::GetVideoResponse response;
    EXPECT_EQ(See(server.video().GetVideo(&context, request, &response)).reason,
              "METADATA_TOO_LARGE");
  }
  job->Succeed();
  EXPECT_TRUE(reader->Read(&event));
  EXPECT_TRUE(event.event().has_finished());
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST(Trailers, EchoTheCallersIds) {
  RpcServer server;
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", kUuid);
  context.AddMetadata("traceparent", std::string("00-") + kTrace + "-00f067aa0ba902b7-01");
  v1::GetServerInfoResponse response;
  ASSERT_TRUE(server.server().GetServerInfo(&context, v1::GetServerInfoRequest(), &response).ok());
  EXPECT_EQ(Trailer(context, "x-request-id"), kUuid);
  EXPECT_EQ(Trailer(context, "x-trace-id"), kTrace);
}

TEST(Trailers, NameTheIdOfTheRequestItself) {
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "00000000-0000-4000-8000-000000000000");
  v1::CreateVideoRequest request;
  request.set_request_id(kUuid);
  v1::CreateVideoResponse response;
  ASSERT_TRUE(server.video().CreateVideo(&context, request, &response).ok());
  EXPECT_EQ(Trailer(context, "x-request-id"), kUuid);
}

TEST(Trailers, AreDrawnWhereTheCallersIdsAreBad) {
  RpcServer server;
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "drop table");
  context.AddMetadata("traceparent", "00-xyz");
  v1::GetServerInfoResponse response;
  ASSERT_TRUE(server.server().GetServerInfo(&context, v1::GetServerInfoRequest(), &response).ok());
  EXPECT_EQ(Trailer(context, "x-request-id").size(), 36U);
  EXPECT_NE(Trailer(context, "x-request-id"), "drop table");
  EXPECT_EQ(Trailer(context, "x-trace-id").size(), 32U);
}

TEST(Calls, AreCountedAsTheClientSawThem) {
  RpcServer server;
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    v1::GetVideoRequest request;
    request.set_name("videos/none");
    v1::GetVideoResponse response;
    EXPECT_FALSE(server.video().GetVideo(&context, request, &response).ok());
  }
  server.observer.WaitUntil(
      [](auto& o) { return o.ended[{Method::kGetVideo, absl::StatusCode::kNotFound}] == 3; });
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.started[Method::kGetVideo]; }), 3);
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.sent[Method::kGetVideo]; }), 0);
}

TEST(OpenCalls, WaitsForTheLast) {
  OpenCalls calls;
  EXPECT_TRUE(calls.WaitForNone(absl::ZeroDuration()));
  calls.Enter();
  EXPECT_FALSE(calls.WaitForNone(absl::Milliseconds(1)));
  std::thread leaver([&] { calls.Leave(); });
  EXPECT_TRUE(calls.WaitForNone(absl::InfiniteDuration()));
  leaver.join();
}

}  // namespace
}  // namespace reel::front
