// SPDX-License-Identifier: Apache-2.0
// UploadFile over the wire: in pieces, once, and given up where its caller does or sends something
// else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

// One call under way.
struct Sending {
  explicit Sending(RpcServer& server, const std::string& token = "") {
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    writer = server.video().UploadFile(&context, &response);
  }
  bool Write(int64_t size, const std::string& data) const {
    v1::UploadFileRequest piece;
    piece.set_size_bytes(size);
    piece.set_data(data);
    return writer->Write(piece);
  }
  grpc::Status End() const {
    writer->WritesDone();
    return writer->Finish();
  }

  grpc::ClientContext context;
  v1::UploadFileResponse response;
  std::unique_ptr<grpc::ClientWriter<v1::UploadFileRequest>> writer;
};

template <typename Condition>
bool Comes(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return condition();
}

TEST(UploadFile, TakesPiecesAndAnswersOnceWithTheName) {
  RpcServer server;
  Sending sending(server);
  const std::string piece(1 << 20, 'a');
  EXPECT_TRUE(sending.Write(5 << 20, ""));  // the first may be empty
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(sending.Write(0, piece));
  ASSERT_TRUE(sending.End().ok());
  ASSERT_EQ(server.jobs.files.whole().size(), 1U);
  EXPECT_EQ(server.jobs.files.whole()[0].second.size(), 5U << 20);
  EXPECT_EQ(sending.response.file().name(),
            "files/" + Sha256Hex(server.jobs.files.whole()[0].second));
  EXPECT_EQ(sending.response.file().size_bytes(), 5 << 20);
  EXPECT_EQ(sending.response.file().content_type(), "video/mp4");
  EXPECT_EQ(sending.response.file().expire_time().seconds(), 1'700'000'000);
  EXPECT_EQ(server.jobs.files.given_up(), 0);
}

TEST(UploadFile, IsRefusedBeforeItsBytesAreTaken) {
  RpcServer server;
  Sending none(server);
  EXPECT_EQ(See(none.End()).reason, "UNDECODABLE_REQUEST");
  Sending large(server);
  large.Write(FakeFiles::kMostBytes + 1, "");
  EXPECT_EQ(See(large.writer->Finish()).fields, std::vector<std::string>{"size_bytes"});
  server.jobs.Refuse(MakeError(Reason::kTenantQuota, "No room"));
  Sending full(server);
  full.Write(10, "12345");
  EXPECT_EQ(See(full.writer->Finish()).reason, "TENANT_QUOTA");
  EXPECT_TRUE(server.jobs.files.whole().empty());
}

TEST(UploadFile, WhatOnlyTheFirstPieceMaySayIsRefusedLater) {
  RpcServer server;
  Sending sending(server);
  EXPECT_TRUE(sending.Write(10, "12345"));
  sending.Write(10, "67890");
  EXPECT_EQ(See(sending.writer->Finish()).fields, std::vector<std::string>{"size_bytes"});
  EXPECT_TRUE(Comes([&] { return server.jobs.files.given_up() == 1; }));
}

TEST(UploadFile, ACallerWhoLeavesOrStallsLeavesNothing) {
  RpcServerOptions options;
  options.unsent.patience = absl::Seconds(2);
  RpcServer server(std::move(options));
  {
    Sending leaves(server);
    EXPECT_TRUE(leaves.Write(10, "12345"));
    EXPECT_TRUE(Comes([&] { return server.jobs.files.begun() == 1; }));
    leaves.context.TryCancel();
    leaves.writer->Finish();
  }
  EXPECT_TRUE(Comes([&] { return server.jobs.files.given_up() == 1; }));
  Sending stalls(server);
  EXPECT_TRUE(stalls.Write(10, "12345"));
  EXPECT_EQ(See(stalls.writer->Finish()).reason, "REQUEST_NOT_RECEIVED");
  EXPECT_TRUE(Comes([&] { return server.jobs.files.given_up() == 2; }));
  EXPECT_TRUE(server.jobs.files.whole().empty());
}

}  // namespace
}  // namespace reel::front
