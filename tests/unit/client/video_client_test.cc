// SPDX-License-Identifier: Apache-2.0
#include "client/video_client.h"

#include <gtest/gtest.h>

#include <fstream>

#include "client/error_details.h"
#include "tests/unit/client/client_fixture.h"

namespace reel::client {
namespace {

class VideoClientTest : public ClientTest {
 protected:
  // A file with this content; removed with the test's folder.
  static std::string FileOf(const std::string& content) {
    std::string path = testing::TempDir() + "reel_client_XXXXXX";
    const int descriptor = mkstemp(path.data());
    close(descriptor);
    std::ofstream(path) << content;
    return path;
  }
};

TEST_F(VideoClientTest, CreatesOnceThoughItTriesTwice) {
  server_.RefuseNext("CreateVideo", fakes::MakeRefusal(14, "QUEUE_FULL", ""));
  v1::CreateVideoRequest request;
  request.mutable_spec()->set_prompt("a lighthouse");
  const auto video = client_->Create(request);
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->name(), server_.name());
  EXPECT_EQ(server_.asked().creates.at(0).request_id().size(), 36u);
  EXPECT_EQ(retries_, 1);
}

TEST_F(VideoClientTest, KeepsTheCallersRequestId) {
  v1::CreateVideoRequest request;
  request.set_request_id("3f2504e0-4f89-41d3-9a0c-0305e82c3301");
  ASSERT_TRUE(client_->Create(request).ok());
  EXPECT_EQ(server_.asked().creates.at(0).request_id(), request.request_id());
}

TEST_F(VideoClientTest, ReturnsRefusalsWithTheirDetails) {
  fakes::Refusal refusal = fakes::MakeRefusal(3, "INVALID_SPEC", "Invalid.");
  fakes::AddViolation(refusal, "spec.width", "Nearest: 704.");
  server_.RefuseNext("CreateVideo", refusal);
  const absl::Status status = client_->Create({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DetailsOf(status).violations.at(0).field, "spec.width");
  EXPECT_EQ(retries_, 0);
}

TEST_F(VideoClientTest, AsksForVideos) {
  EXPECT_EQ(client_->Get(server_.name())->state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(client_->Get("videos/other").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client_->List({})->videos_size(), 1);
  EXPECT_TRUE(client_->Delete(server_.name()).ok());
  EXPECT_EQ(client_->Cancel(server_.name())->state(), v1::VIDEO_STATE_RUNNING);
  EXPECT_EQ(server_.asked().cancels, 1);
  EXPECT_TRUE(client_->Estimate({})->admissible());
}

TEST_F(VideoClientTest, AsksForTheServer) {
  EXPECT_EQ(client_->Info()->version(), "0.1.0");
  EXPECT_EQ(client_->Models()->at(0).name(), "testcard");
  EXPECT_EQ(client_->Kernels()->ops(0).variants_size(), 2);
  EXPECT_EQ(*client_->CheckHealth(""), Health::kServing);
  EXPECT_TRUE(client_->WaitUntilConnected(absl::Seconds(10)));
}

TEST_F(VideoClientTest, SendsTheTokenAsItIsNow) {
  options_.token_file = FileOf("first\n");
  client_ = *VideoClient::Open(options_);
  ASSERT_TRUE(client_->Get(server_.name()).ok());
  EXPECT_EQ(server_.asked().authorization, "Bearer first");
  std::ofstream(options_.token_file) << "second";
  ASSERT_TRUE(client_->Get(server_.name()).ok());
  EXPECT_EQ(server_.asked().authorization, "Bearer second");
}

TEST_F(VideoClientTest, SendsNoTokenInTheClearBeyondThisMachine) {
  options_.token_file = FileOf("secret");
  options_.server = "reel.example:50051";
  const absl::Status status = VideoClient::Open(options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()).find("secret"), std::string::npos);
  options_.tls = true;
  EXPECT_TRUE(VideoClient::Open(options_).ok());
}

TEST_F(VideoClientTest, RefusesFilesThatAreNoGood) {
  options_.token_file = FileOf("two\ntokens");
  EXPECT_EQ((*VideoClient::Open(options_))->Get("videos/x").status().code(),
            absl::StatusCode::kInvalidArgument);
  for (const char* no_file : {"/no/such/file", "/"}) {
    options_.tls_ca = no_file;
    EXPECT_EQ(VideoClient::Open(options_).status().code(), absl::StatusCode::kInvalidArgument);
  }
  options_.tls_ca.clear();
  options_.tls_key = options_.token_file;
  EXPECT_EQ(VideoClient::Open(options_).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace reel::client
