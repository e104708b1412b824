// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/video_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(CreateVideo, AnswersWithTheVideo) {
  RpcServer server;
  server.jobs.Add("r1-a");
  v1::CreateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(server.video().CreateVideo(&context, request, &response).ok());
  EXPECT_EQ(response.video().name(), "videos/r1-a");
  EXPECT_EQ(response.video().state(), v1::VIDEO_STATE_QUEUED);
  const NewJob job = server.jobs.WaitForCreate();
  EXPECT_EQ(job.spec.prompt, "a boat");
  EXPECT_EQ(job.tenant, "default");
  EXPECT_FALSE(job.bound);
  EXPECT_EQ(job.trace_id.size(), 32U);
}

TEST(CreateVideo, OfSeveralAnswersWithAllAndTheFirstAsEver) {
  RpcServer server;
  for (const char* const id : {"r1-a", "r1-b", "r1-c"}) server.jobs.Add(id);
  v1::CreateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  request.set_count(3);
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(server.video().CreateVideo(&context, request, &response).ok());
  EXPECT_EQ(response.video().name(), "videos/r1-a");
  ASSERT_EQ(response.videos_size(), 3);
  EXPECT_EQ(response.videos(0).name(), "videos/r1-a");
  EXPECT_EQ(response.videos(2).name(), "videos/r1-c");
  EXPECT_EQ(server.jobs.WaitForCreate().count, 3);
}

TEST(CreateVideo, OfSeveralOnlyValidatedTellsTheirSeeds) {
  RpcServer server;
  v1::CreateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  request.mutable_spec()->set_seed(~uint64_t{0});
  request.set_count(2);
  request.set_validate_only(true);
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(server.video().CreateVideo(&context, request, &response).ok());
  ASSERT_EQ(response.videos_size(), 2);
  EXPECT_EQ(response.videos(0).spec().seed(), ~uint64_t{0});
  EXPECT_EQ(response.videos(1).spec().seed(), 0U);
  EXPECT_EQ(response.videos(1).name(), "");
}

TEST(CreateVideo, ValidateOnlyStartsNothing) {
  RpcServer server;
  v1::CreateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  request.set_validate_only(true);
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(server.video().CreateVideo(&context, request, &response).ok());
  EXPECT_EQ(response.video().name(), "");
  EXPECT_EQ(response.video().spec().prompt(), "a boat");
}

TEST(CreateVideo, ListsEveryViolationAndCountsTheRefusal) {
  RpcServer server;
  v1::CreateVideoRequest request;
  request.set_request_id("mine");
  request.mutable_timeout()->set_seconds(-5);
  request.mutable_spec()->set_prompt(std::string(10'000, 'p'));
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  const grpc::Status status = server.video().CreateVideo(&context, request, &response);
  const ErrorSeen seen = See(status);
  EXPECT_EQ(seen.code, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(seen.reason, "INVALID_REQUEST");
  for (const char* field : {"request_id", "timeout", "spec.prompt"}) {
    EXPECT_THAT(seen.fields, Contains(field));
  }
  EXPECT_EQ(status.error_message().find("pppp"), std::string::npos);
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.refused.size(); }), 1U);
}

TEST(CreateVideo, ARefusalOfJobsIsPassedOnWithItsPushback) {
  RpcServer server;
  ErrorDetails details;
  details.retry_after = absl::Milliseconds(1234);
  server.jobs.Refuse(MakeError(Reason::kQueueFull, "The queue is full", details));
  v1::CreateVideoRequest request;
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  const grpc::Status status = server.video().CreateVideo(&context, request, &response);
  EXPECT_EQ(See(status).reason, "QUEUE_FULL");
  const auto& trailers = context.GetServerTrailingMetadata();
  ASSERT_EQ(trailers.count("grpc-retry-pushback-ms"), 1U);
  EXPECT_EQ(trailers.find("grpc-retry-pushback-ms")->second, "1234");
  // jobs/ reports its own refusals.
  EXPECT_EQ(server.observer.Look([](auto& o) { return o.refused.size(); }), 0U);
}

TEST(GetVideo, FindsTheTenantsVideoAndNoOther) {
  RpcServerOptions options;
  options.authorizer =
      std::make_unique<Authorizer>(*TokenTable::Parse(TokenLine("use", "default user")));
  RpcServer server(std::move(options));
  server.jobs.Add("r1-a");
  server.jobs.Add("r1-b", "somebody");
  const auto get = [&](const std::string& name, v1::GetVideoResponse& response) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer use");
    v1::GetVideoRequest request;
    request.set_name(name);
    return server.video().GetVideo(&context, request, &response);
  };
  v1::GetVideoResponse response;
  EXPECT_TRUE(get("videos/r1-a", response).ok());
  EXPECT_EQ(response.video().name(), "videos/r1-a");
  EXPECT_EQ(See(get("videos/r1-b", response)).reason, "VIDEO_NOT_FOUND");
  EXPECT_EQ(See(get("videos/none", response)).code, grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(See(get("../etc/passwd", response)).fields, ElementsAre("name"));
}

TEST(ListVideos, PagesWithATokenThatHoldsTheFilter) {
  RpcServer server;
  ListPage page;
  for (int i = 0; i < 2; ++i) {
    Video video;
    video.id = "r1-" + std::to_string(i);
    video.spec.prompt = std::string(400, 'a');
    video.create_time = absl::FromUnixSeconds(1000 - i);
    page.videos.push_back(video);
  }
  page.more = true;
  server.jobs.SetPage(page);
  v1::ListVideosRequest request;
  request.set_page_size(2);
  request.add_states(v1::VIDEO_STATE_QUEUED);
  v1::ListVideosResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server.video().ListVideos(&context, request, &response).ok());
  }
  ASSERT_EQ(response.videos_size(), 2);
  EXPECT_EQ(response.videos(0).spec().prompt().size(), 256U);
  ASSERT_FALSE(response.next_page_token().empty());
  request.set_page_token(response.next_page_token());
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server.video().ListVideos(&context, request, &response).ok());
  }
  EXPECT_EQ(server.jobs.last_query().before_id, "r1-1");
  EXPECT_EQ(server.jobs.last_query().before_time, absl::FromUnixSeconds(999));
  request.clear_states();
  grpc::ClientContext context;
  EXPECT_THAT(See(server.video().ListVideos(&context, request, &response)).fields,
              ElementsAre("page_token"));
}

TEST(ListVideos, APageEndsBeforeItIsTooLargeToSend) {
  RpcServer server;
  ListPage page;
  for (int i = 0; i < 200; ++i) {
    Video video;
    video.id = "r1-" + std::to_string(i);
    for (int label = 0; label < 16; ++label) {
      video.labels[std::string(254, 'k') + std::to_string(10 + label)] = std::string(256, 'v');
    }
    video.create_time = absl::FromUnixSeconds(1000 - i);
    page.videos.push_back(video);
  }
  server.jobs.SetPage(page);
  v1::ListVideosRequest request;
  request.set_page_size(200);
  v1::ListVideosResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(server.video().ListVideos(&context, request, &response).ok());
  EXPECT_GT(response.videos_size(), 100);
  EXPECT_LT(response.videos_size(), 200);
  EXPECT_LE(response.ByteSizeLong(), (1U << 20) + 4096U);
  ASSERT_FALSE(response.next_page_token().empty());
  request.set_page_token(response.next_page_token());
  const std::string last = response.videos(response.videos_size() - 1).name();
  grpc::ClientContext next;
  ASSERT_TRUE(server.video().ListVideos(&next, request, &response).ok());
  EXPECT_EQ("videos/" + server.jobs.last_query().before_id, last);
}

TEST(CancelAndDelete, AnswerForKnownVideosOnly) {
  RpcServer server;
  server.jobs.Add("r1-a");
  {
    grpc::ClientContext context;
    v1::CancelVideoRequest request;
    v1::CancelVideoResponse response;
    request.set_name("videos/r1-a");
    EXPECT_TRUE(server.video().CancelVideo(&context, request, &response).ok());
    EXPECT_EQ(response.video().name(), "videos/r1-a");
  }
  {
    grpc::ClientContext context;
    v1::DeleteVideoRequest request;
    v1::DeleteVideoResponse response;
    request.set_name("videos/none");
    EXPECT_EQ(See(server.video().DeleteVideo(&context, request, &response)).reason,
              "VIDEO_NOT_FOUND");
  }
}

TEST(EstimateVideo, TellsARefusalAsAnAnswer) {
  RpcServer server;
  server.jobs.Refuse(MakeError(Reason::kQueueFull, "The queue is full"));
  v1::EstimateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  v1::EstimateVideoResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(server.video().EstimateVideo(&context, request, &response).ok());
  EXPECT_FALSE(response.admissible());
  EXPECT_EQ(response.refusal().code(), static_cast<int>(grpc::StatusCode::UNAVAILABLE));
  EXPECT_EQ(response.queue().seconds(), 1);
  EXPECT_EQ(response.run_p50().nanos(), 500'000'000);
  EXPECT_EQ(response.latent_tokens(), 7);
  EXPECT_EQ(response.spec().prompt(), "a boat");
}

}  // namespace
}  // namespace reel::front
