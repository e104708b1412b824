// SPDX-License-Identifier: Apache-2.0
#include "client/video_stream.h"

#include <gtest/gtest.h>

#include <thread>

#include "client/error_details.h"
#include "tests/unit/client/client_fixture.h"

namespace reel::client {
namespace {

using VideoStreamTest = ClientTest;

constexpr int kProgressEvents = 5;

TEST_F(VideoStreamTest, TellsAWholeVideo) {
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.media, server_.media());
  EXPECT_EQ(told.accepted, 1);
  EXPECT_EQ(told.progress, kProgressEvents);
  EXPECT_EQ(told.finished, 1);
  EXPECT_EQ(retries_, 0);
}

TEST_F(VideoStreamTest, ResumesAWatchWhereItWasCut) {
  server_.Play({{.cut_after = 65'536}, {.cut_after = 131'072}, {.cut_after = 0}});
  const Told told = ReadAll(client_->Watch(Named()));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.media, server_.media());
  EXPECT_EQ(told.accepted, 1);
  EXPECT_EQ(told.progress, kProgressEvents);
  EXPECT_EQ(retries_, 3);
  const auto watches = server_.asked().watches;
  ASSERT_EQ(watches.size(), 4u);
  EXPECT_EQ(watches[1].media_offset(), 65'536);
  EXPECT_EQ(watches[1].attempt(), 1);
  EXPECT_EQ(watches[1].after_sequence(), 6u);
  EXPECT_EQ(watches[2].media_offset(), 196'608);
}

TEST_F(VideoStreamTest, JoinsABoundJobAgainByItsRequestId) {
  server_.Play({{.cut_after = 100'000}});
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.media, server_.media());
  EXPECT_EQ(told.accepted, 1);
  const fakes::Asked asked = server_.asked();
  ASSERT_EQ(asked.generates.size(), 2u);
  EXPECT_FALSE(asked.generates[0].request_id().empty());
  EXPECT_EQ(asked.generates[0].request_id(), asked.generates[1].request_id());
  EXPECT_TRUE(asked.watches.empty());
}

TEST_F(VideoStreamTest, ResumesADetachedJobByItsName) {
  server_.Play({{.cut_after = 100'000}});
  const Told told = ReadAll(client_->Generate(Prompt(true)));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.media, server_.media());
  const fakes::Asked asked = server_.asked();
  EXPECT_EQ(asked.generates.size(), 1u);
  ASSERT_EQ(asked.watches.size(), 1u);
  EXPECT_EQ(asked.watches[0].name(), server_.name());
}

TEST_F(VideoStreamTest, FollowsAJobThatHadToBeMadeAnew) {
  server_.Play({{.cut_after = 100'000}, {.new_name = true}});
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.media, server_.media());
  EXPECT_EQ(told.accepted, 2);
  EXPECT_EQ(told.restarted, 1);
}

// Each cut costs the server a job that depends on its caller, and the next try another render.
TEST_F(VideoStreamTest, DoesNotHaveAJobMadeAnewForEver) {
  server_.Play(std::vector<fakes::Trouble>(20, {.cut_after = 100'000, .new_name = true}));
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_EQ(told.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(told.status.message().find("detached"), std::string::npos) << told.status;
  EXPECT_EQ(server_.asked().generates.size(), static_cast<size_t>(options_.retry.max_attempts));
}

TEST_F(VideoStreamTest, FetchesADamagedPieceAgain) {
  server_.Play({{.corrupt_after = 65'536}});
  const Told told = ReadAll(client_->Watch(Named()));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.media, server_.media());
  const auto watches = server_.asked().watches;
  ASSERT_EQ(watches.size(), 2u);
  EXPECT_EQ(watches[1].media_offset(), 65'536);
}

TEST_F(VideoStreamTest, GivesUpOnAPieceThatStaysDamaged) {
  server_.Play(std::vector<fakes::Trouble>(20, {.corrupt_after = 0}));
  const Told told = ReadAll(client_->Watch(Named()));
  EXPECT_EQ(told.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(told.media.empty());
  EXPECT_EQ(server_.asked().streams, 1 + options_.retry.max_resumes);
}

TEST_F(VideoStreamTest, FetchesAMissingPieceAndAMissingEnd) {
  server_.Play({{.skip_after = 65'536}, {.end_early = true}});
  const Told told = ReadAll(client_->Watch(Named()));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.media, server_.media());
  EXPECT_EQ(server_.asked().streams, 3);
}

TEST_F(VideoStreamTest, BeginsTheFileAnewWhenTheJobRestarts) {
  server_.Play({{.restart_after = 131'072}});
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_EQ(told.restarted, 1);
  EXPECT_EQ(told.media, server_.media());
}

TEST_F(VideoStreamTest, RefusesAFileWithAnotherHash) {
  server_.Play({{.wrong_hash = true}});
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_EQ(told.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(told.finished, 0);
}

TEST_F(VideoStreamTest, EndsWithTheVideosOwnErrorAndKeepsIt) {
  server_.Play({{.end = fakes::MakeRefusal(13, "NUMERICAL_FAULT", "The numbers went bad.")}});
  VideoStream stream = client_->Generate(Prompt());
  const Told told = ReadAll(stream);
  EXPECT_EQ(told.status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(DetailsOf(told.status).reason, "NUMERICAL_FAULT");
  EXPECT_EQ(stream.Next().status(), told.status);
  EXPECT_EQ(retries_, 0);
}

TEST_F(VideoStreamTest, TriesARefusedCallAgainAsTheServerAsks) {
  fakes::Refusal refusal = fakes::MakeRefusal(14, "QUEUE_FULL", "The queue is full.");
  server_.RefuseNext("GenerateVideo", fakes::AddRetryInfo(refusal, 2));
  refusal.pushback_ms = 1;
  server_.RefuseNext("GenerateVideo", refusal);
  EXPECT_TRUE(ReadAll(client_->Generate(Prompt())).status.ok());
  EXPECT_EQ(retries_, 2);
}

TEST_F(VideoStreamTest, ObeysAPushbackThatForbidsRetries) {
  fakes::Refusal refusal = fakes::MakeRefusal(14, "SERVER_DRAINING", "Shutting down.");
  refusal.pushback_ms = -1;
  server_.RefuseNext("GenerateVideo", refusal);
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_EQ(DetailsOf(told.status).reason, "SERVER_DRAINING");
  EXPECT_EQ(retries_, 0);
}

TEST_F(VideoStreamTest, LeavesMediaOutWhenAsked) {
  server_.Play({{.end_early = true}});
  v1::GenerateVideoRequest request = Prompt(true);
  request.set_without_media(true);
  const Told told = ReadAll(client_->Generate(request));
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_TRUE(told.media.empty());
  EXPECT_EQ(told.finished, 1);
  EXPECT_TRUE(server_.asked().watches.at(0).without_media());
}

TEST_F(VideoStreamTest, StopsFromAnotherThread) {
  server_.Play({{.wait_for_cancel = true}});
  VideoStream stream = client_->Generate(Prompt());
  std::thread other([&] {
    server_.WaitForStreams(1);
    stream.Stop();
  });
  const Told told = ReadAll(stream);
  other.join();
  EXPECT_EQ(told.status.code(), absl::StatusCode::kCancelled);
  server_.WaitUntilLeft(1);
}

TEST_F(VideoStreamTest, LeavesTheCallWhenItIsDestroyed) {
  server_.Play({{.wait_for_cancel = true}});
  {
    VideoStream stream = client_->Generate(Prompt());
    ASSERT_TRUE(stream.Next().ok());
  }
  server_.WaitUntilLeft(1);
}

TEST_F(VideoStreamTest, FailsSoonWhenNobodyListens) {
  server_.Shutdown();
  const Told told = ReadAll(client_->Generate(Prompt()));
  EXPECT_EQ(told.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(retries_, options_.retry.max_attempts - 1);
}

}  // namespace
}  // namespace reel::client
