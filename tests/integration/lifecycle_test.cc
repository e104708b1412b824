// SPDX-License-Identifier: Apache-2.0
// Cancel, deadline, ownership, request ids, paging, deletion: what callers do to jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

v1::VideoSpec LongSpec(const std::string& prompt) {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(100);  // two seconds
  return spec;
}

v1::Video Cancel(Calls& calls, const std::string& name) {
  v1::CancelVideoRequest request;
  request.set_name(name);
  v1::CancelVideoResponse response;
  grpc::ClientContext context;
  const grpc::Status status = calls.videos().CancelVideo(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.video();
}

bool IsFinal(v1::VideoState state) { return state >= v1::VIDEO_STATE_SUCCEEDED; }

TEST(Lifecycle, CancelEndsTheStreamAndTheVideo) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = LongSpec("x");
  std::string name;
  const StreamResult result = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_accepted()) name = event.accepted().name();
    if (event.has_progress() && event.progress().step() >= 2) Cancel(calls, name);
    return true;
  });
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(result.reason(), "CANCELLED_BY_OWNER");
  EXPECT_EQ(calls.Get(name).state(), v1::VIDEO_STATE_CANCELLED);
  EXPECT_EQ(Cancel(calls, name).state(), v1::VIDEO_STATE_CANCELLED);  // again changes nothing
}

TEST(Lifecycle, LeavingABoundStreamCancelsItsJob) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = LongSpec("x");
  std::string name;
  calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_accepted()) name = event.accepted().name();
    return !(event.has_progress() && event.progress().step() >= 1);
  });
  const v1::Video video = calls.Await(name);
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_CANCELLED);
}

TEST(Lifecycle, LeavingADetachedStreamChangesNothing) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("x");
  request.set_detached(true);
  std::string name;
  calls.Generate(request, [&](const v1::VideoEvent& event) {
    name = event.accepted().name();
    return false;
  });
  EXPECT_EQ(calls.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
}

TEST(Lifecycle, ADeadlineReachesTheCallerAsAVerdict) {
  ServerSetup setup;  // a step far above what was estimated, so that admission lets it in
  setup.config = R"(models { name: "testcard" test_card {
      faults { kind: "hang" step: 2 prompt_contains: "stuck" } } })";
  ReelServer server(setup);
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("stuck");
  // The server's word has 180 ms to come before the caller's own clock ends the call: beside other
  // work on the machine it must in one of three rounds.
  StreamResult result;
  for (int round = 0; round < 3 && result.reason().empty(); ++round) {
    const absl::Time start = absl::Now();
    result = calls.Generate(request, nullptr, absl::Seconds(3));
    EXPECT_LT(absl::Now() - start, absl::Seconds(4));
  }
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(result.reason(), "DEADLINE_PASSED");
}

TEST(Lifecycle, AHopelessDeadlineIsRefusedBeforeAnyStep) {
  ReelServer server;
  Calls calls(server.Connect());
  ASSERT_TRUE(calls.Generate(SmallSpec("warm")).status.ok());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = LongSpec("x");
  request.mutable_timeout()->set_nanos(300'000'000);
  const StreamResult result = calls.Generate(request);
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(result.reason(), "DEADLINE_UNREACHABLE");
  EXPECT_THAT(result.events, IsEmpty());
}

TEST(Lifecycle, AHundredDuplicateCreatesRenderOnce) {
  ReelServer server;
  constexpr size_t kCreates = 100;
  const std::string id = NewRequestId();
  std::latch all_at_once(kCreates);
  std::vector<std::thread> threads;
  std::vector<std::string> names(kCreates);
  for (size_t t = 0; t < kCreates; ++t) {
    threads.emplace_back([&, t] {
      Calls calls(server.Connect());
      all_at_once.arrive_and_wait();
      names[t] = calls.Create(SmallSpec("x"), id).name();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 1U);
  Calls calls(server.Connect());
  EXPECT_EQ(calls.Await(names[0]).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(calls.List().size(), 1U);
  EXPECT_TRUE(Eventually([&] { return server.Metric("reel_frames_total") == 9; }));
  EXPECT_EQ(server.Metric("reel_denoise_step_duration_seconds_count"), 4) << "rendered twice";
}

TEST(Lifecycle, ARequestIdWithAnotherSpecIsAConflict) {
  ReelServer server;
  Calls calls(server.Connect());
  const std::string id = NewRequestId();
  const std::string name = calls.Create(SmallSpec("x"), id).name();
  v1::GenerateVideoRequest request;
  request.set_request_id(id);
  *request.mutable_spec() = SmallSpec("y");
  const StreamResult conflict = calls.Generate(request);
  EXPECT_EQ(conflict.status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  *request.mutable_spec() = SmallSpec("x");
  const StreamResult joined = calls.Generate(request);
  ASSERT_TRUE(joined.status.ok()) << joined.status.error_message();
  EXPECT_EQ(joined.accepted.name(), name);
}

TEST(Lifecycle, PagesListEveryVideoOnceNewestFirst) {
  ReelServer server;
  Calls calls(server.Connect());
  std::vector<std::string> names;
  for (int i = 0; i < 7; ++i) names.push_back(calls.Create(SmallSpec("x", 1)).name());
  std::vector<std::string> listed;
  v1::ListVideosRequest request;
  request.set_page_size(3);
  do {
    v1::ListVideosResponse page;
    grpc::ClientContext context;
    ASSERT_TRUE(calls.videos().ListVideos(&context, request, &page).ok());
    for (const v1::Video& video : page.videos()) listed.push_back(video.name());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, std::vector<std::string>(names.rbegin(), names.rend()));
  for (const std::string& name : names) calls.Await(name);
}

TEST(Lifecycle, DeleteRemovesAFinishedVideoAndRefusesARunningOne) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::DeleteVideoRequest request;
  v1::DeleteVideoResponse response;
  request.set_name(calls.Create(LongSpec("x")).name());
  {
    grpc::ClientContext context;
    const grpc::Status status = calls.videos().DeleteVideo(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(ReasonOf(status), "VIDEO_NOT_FINAL");
  }
  Cancel(calls, request.name());
  EXPECT_TRUE(IsFinal(calls.Await(request.name()).state()));
  {
    grpc::ClientContext context;
    EXPECT_TRUE(calls.videos().DeleteVideo(&context, request, &response).ok());
  }
  EXPECT_THAT(calls.List(), IsEmpty());
}

TEST(Lifecycle, EstimateAndValidateStartNothing) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::EstimateVideoRequest estimate;
  *estimate.mutable_spec() = SmallSpec("x");
  v1::EstimateVideoResponse cost;
  grpc::ClientContext first;
  ASSERT_TRUE(calls.videos().EstimateVideo(&first, estimate, &cost).ok());
  EXPECT_TRUE(cost.admissible());
  EXPECT_GT(cost.run_p50().seconds() + cost.run_p50().nanos(), 0);
  v1::CreateVideoRequest create;
  *create.mutable_spec() = SmallSpec("x");
  create.set_validate_only(true);
  v1::CreateVideoResponse created;
  grpc::ClientContext second;
  ASSERT_TRUE(calls.videos().CreateVideo(&second, create, &created).ok());
  EXPECT_TRUE(created.video().name().empty());
  EXPECT_EQ(created.video().spec().width(), 128);
  EXPECT_THAT(calls.List(), IsEmpty());
}

}  // namespace
}  // namespace reel::tests
