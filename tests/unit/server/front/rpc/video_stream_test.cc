// SPDX-License-Identifier: Apache-2.0
// Streams over the wire: order, resumption, cancellation, stalls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kernels/base/digest/crc32c.h"
#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

std::string Kind(const v1::VideoEvent& event) {
  const auto* descriptor = v1::VideoEvent::descriptor();
  return descriptor->FindFieldByNumber(static_cast<int>(event.event_case()))->name();
}

template <typename Reader, typename Response>
std::vector<std::string> ReadAll(Reader& reader, Response& response) {
  std::vector<std::string> kinds;
  while (reader.Read(&response)) kinds.push_back(Kind(response.event()));
  return kinds;
}

TEST(GenerateVideo, StreamsALifeAndEndsWell) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  grpc::ClientContext context;
  v1::GenerateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  auto reader = server.video().GenerateVideo(&context, request);
  v1::GenerateVideoResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(Kind(response.event()), "accepted");
  EXPECT_EQ(response.event().sequence(), 1U);
  EXPECT_EQ(response.event().accepted().name(), "videos/r1-a");
  job->Progress(1);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(Kind(response.event()), "progress");
  job->Media("fragment");
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.event().media().data(), "fragment");
  EXPECT_EQ(response.event().media().crc32c(), Crc32c("fragment"));
  EXPECT_EQ(response.event().sequence(), 4U);
  job->Succeed();
  EXPECT_THAT(ReadAll(*reader, response), ElementsAre("finished"));
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(server.jobs.WaitForCreate().bound);
  EXPECT_EQ(server.jobs.WaitForLeave().id, "r1-a");
  server.observer.WaitUntil([](auto& o) { return o.open_streams == 0; });
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.first_events + o.first_chunks; }), 2);
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.sent[Method::kGenerateVideo]; }), 4);
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.buffered; }), 0);
}

TEST(GenerateVideo, SendsNoHeadersBeforeAdmission) {
  RpcServer server;
  server.jobs.Refuse(MakeError(Reason::kQueueFull, "The queue is full"));
  grpc::ClientContext context;
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  v1::GenerateVideoResponse response;
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(See(status).reason, "QUEUE_FULL");
  // A refusal is trailers only: no initial metadata of ours went out.
  EXPECT_EQ(context.GetServerInitialMetadata().size(), 0U);
  EXPECT_EQ(context.GetServerTrailingMetadata().count("x-request-id"), 1U);
}

TEST(GenerateVideo, AFailureEndsWithAStatusThatNamesTheVideo) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  grpc::ClientContext context;
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  v1::GenerateVideoResponse response;
  ASSERT_TRUE(reader->Read(&response));
  job->End(VideoState::kFailed, MakeError(Reason::kNumericalFault, "The numbers went bad"));
  EXPECT_THAT(ReadAll(*reader, response), ElementsAre());
  const ErrorSeen seen = See(reader->Finish());
  EXPECT_EQ(seen.code, grpc::StatusCode::INTERNAL);
  EXPECT_EQ(seen.reason, "NUMERICAL_FAULT");
  EXPECT_EQ(seen.metadata.at("video"), "videos/r1-a");
}

TEST(GenerateVideo, LeavingIsTold) {
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  v1::GenerateVideoResponse response;
  ASSERT_TRUE(reader->Read(&response));
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(server.jobs.WaitForLeave().reason, LeaveReason::kCallerLeft);
}

TEST(GenerateVideo, LeavingADetachedJobChangesNothing) {
  RpcServer server;
  server.jobs.Add("r1-a");
  {
    grpc::ClientContext context;
    v1::GenerateVideoRequest request;
    request.set_detached(true);
    auto reader = server.video().GenerateVideo(&context, request);
    v1::GenerateVideoResponse response;
    ASSERT_TRUE(reader->Read(&response));
    context.TryCancel();
    EXPECT_FALSE(reader->Finish().ok());
  }
  server.observer.WaitUntil([](auto& o) { return o.open_streams == 0; });
  EXPECT_EQ(server.jobs.leaves(), 0U);
}

TEST(GenerateVideo, ACallerWhoLeavesBeforeTheAnswerStillLeavesTheJob) {
  RpcServer server;
  server.jobs.Add("r1-a");
  server.jobs.HoldCreates();
  grpc::ClientContext context;
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  server.jobs.WaitForCreate();
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  server.observer.WaitUntil([](auto& o) { return o.open_streams == 0; });
  EXPECT_EQ(server.jobs.leaves(), 0U);
  server.jobs.ReleaseCreates();
  EXPECT_EQ(server.jobs.WaitForLeave().id, "r1-a");
}

TEST(GenerateVideo, TheCallsDeadlineLessAMarginIsTheJobs) {
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(100));
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  const NewJob job = server.jobs.WaitForCreate();
  ASSERT_TRUE(job.timeout);
  EXPECT_LT(*job.timeout, absl::Milliseconds(99'800));
  EXPECT_GT(*job.timeout, absl::Seconds(60));
  context.TryCancel();
  EXPECT_FALSE(reader->Finish().ok());
}

// Whom the end is put down to is BoundCall's test: here the way from client to server takes as long
// as the machine is busy.
TEST(GenerateVideo, AtTheDeadlineTheCallEndsAndTheJobIsLeft) {
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
  auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(server.jobs.WaitForLeave().id, "r1-a");
}

TEST(WatchVideo, ResumesWhereTheReaderStopped) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  job->Progress(1);
  job->Media("abcdef");
  job->Progress(2);
  job->Succeed();
  grpc::ClientContext context;
  v1::WatchVideoRequest request;
  request.set_name("videos/r1-a");
  request.set_after_sequence(4);
  request.set_media_offset(4);
  request.set_attempt(1);
  auto reader = server.video().WatchVideo(&context, request);
  v1::WatchVideoResponse response;
  std::string bytes;
  std::vector<std::string> kinds;
  while (reader->Read(&response)) {
    kinds.push_back(Kind(response.event()));
    bytes += response.event().media().data();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(kinds, ElementsAre("accepted", "progress", "media", "finished"));
  EXPECT_EQ(bytes, "ef");
}

TEST(WatchVideo, AnOffsetPastAFinalFileIsOutOfRange) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  job->Media("abc");
  job->Succeed();
  grpc::ClientContext context;
  v1::WatchVideoRequest request;
  request.set_name("videos/r1-a");
  request.set_media_offset(4);
  auto reader = server.video().WatchVideo(&context, request);
  const ErrorSeen seen = See(reader->Finish());
  EXPECT_EQ(seen.code, grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(seen.metadata.at("size"), "3");
}

TEST(WatchVideo, ManyWatchersSeeTheSame) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  std::vector<std::thread> watchers;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    watchers.emplace_back([&] {
      grpc::ClientContext context;
      v1::WatchVideoRequest request;
      request.set_name("videos/r1-a");
      auto reader = server.video().WatchVideo(&context, request);
      v1::WatchVideoResponse response;
      std::string bytes;
      while (reader->Read(&response)) bytes += response.event().media().data();
      if (reader->Finish().ok() && bytes.size() == 100) ++good;
    });
  }
  for (int i = 0; i < 10; ++i) {
    job->Progress(i);
    job->Media(std::string(10, static_cast<char>('a' + i)));
  }
  job->Succeed();
  for (std::thread& watcher : watchers) watcher.join();
  EXPECT_EQ(good, 8);
}

TEST(WatchVideo, TheEndOfTheServerEndsAnIdleWatch) {
  RpcServer server;
  server.jobs.Add("r1-a");
  grpc::ClientContext context;
  v1::WatchVideoRequest request;
  request.set_name("videos/r1-a");
  auto reader = server.video().WatchVideo(&context, request);
  v1::WatchVideoResponse response;
  ASSERT_TRUE(reader->Read(&response));
  server.pump->CloseAll();
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(See(reader->Finish()).reason, "SERVER_DRAINING");
}

// The client reads nothing: after its windows are full a write stalls, and the stream is cut.
TEST(WatchVideo, AReaderWhoTakesNothingIsCut) {
  RpcServerOptions options;
  options.video.write_stall = absl::Milliseconds(200);
  RpcServer server(std::move(options));
  auto job = server.jobs.Add("r1-a");
  for (int i = 0; i < 12; ++i) job->Media(std::string(4 << 20, 'x'));
  grpc::ClientContext context;
  v1::GenerateVideoRequest request;
  auto reader = server.video().GenerateVideo(&context, request);
  EXPECT_EQ(server.jobs.WaitForLeave().reason, LeaveReason::kSlowReader);
  server.observer.WaitUntil([](auto& o) { return o.open_streams == 0; });
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.slow_cuts; }), 1);
  context.TryCancel();
  EXPECT_FALSE(reader->Finish().ok());
}

TEST(GenerateVideo, CancelsAtRandomMomentsLeaveNothingOpen) {
  RpcServer server;
  constexpr int kCalls = 60;
  auto job = server.jobs.Add("r1-a");
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      job->Progress(i);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < kCalls; ++i) {
    grpc::ClientContext context;
    auto reader = server.video().GenerateVideo(&context, v1::GenerateVideoRequest());
    v1::GenerateVideoResponse response;
    for (int reads = i % 4; reads > 0 && reader->Read(&response); --reads) {
    }
    context.TryCancel();
    EXPECT_FALSE(reader->Finish().ok());
  }
  stop = true;
  writer.join();
  server.observer.WaitUntil([](auto& o) { return o.open_streams == 0; });
  EXPECT_TRUE(server.open_calls.WaitForNone(absl::Seconds(10)));
  // A call that was cancelled before it arrived joined nothing.
  EXPECT_LE(server.jobs.leaves(), static_cast<size_t>(kCalls));
  // The pump may hold a stream for a moment longer.
  while (job->listeners() > 0) std::this_thread::yield();
}

TEST(DownloadVideo, SendsARangeAndTheFilesFacts) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  job->Media(std::string(600'000, 'a'));
  job->Media("tail");
  job->Succeed();
  const auto download = [&](int64_t offset, int64_t limit, std::string& bytes) {
    grpc::ClientContext context;
    v1::DownloadVideoRequest request;
    request.set_name("videos/r1-a");
    request.set_read_offset(offset);
    request.set_read_limit(limit);
    auto reader = server.video().DownloadVideo(&context, request);
    v1::DownloadVideoResponse response;
    bool facts = false;
    while (reader->Read(&response)) {
      EXPECT_FALSE(facts) << "only the last message has them";
      EXPECT_LE(response.chunk().data().size(), 262'144U);
      bytes += response.chunk().data();
      facts = response.has_media();
    }
    EXPECT_TRUE(!reader->Finish().ok() || facts);
    return response;
  };
  std::string bytes;
  const auto last = download(0, 0, bytes);
  EXPECT_EQ(bytes.size(), 600'004U);
  EXPECT_EQ(last.media().size_bytes(), 600'004);
  bytes.clear();
  download(599'999, 3, bytes);
  EXPECT_EQ(bytes, "ata");
  bytes.clear();
  download(600'004, 0, bytes);
  EXPECT_EQ(bytes, "");
}

TEST(DownloadVideo, RefusesWhatIsNotThere) {
  RpcServer server;
  auto job = server.jobs.Add("r1-a");
  const auto refused = [&](int64_t offset) {
    grpc::ClientContext context;
    v1::DownloadVideoRequest request;
    request.set_name("videos/r1-a");
    request.set_read_offset(offset);
    return See(server.video().DownloadVideo(&context, request)->Finish());
  };
  EXPECT_EQ(refused(0).reason, "VIDEO_NOT_READY");
  job->Media("abc");
  job->Succeed();
  EXPECT_EQ(refused(4).reason, "OFFSET_PAST_END");
  EXPECT_EQ(refused(4).metadata.at("size"), "3");
}

}  // namespace
}  // namespace reel::front
