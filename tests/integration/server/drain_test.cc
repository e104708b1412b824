// SPDX-License-Identifier: Apache-2.0
// The way down: SIGTERM loses nothing that can be kept, and always ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/time/clock.h"
#include "tests/integration/server/reeld_process.h"

namespace reel::server {
namespace {

namespace pb = grpc::health::v1;

v1::VideoSpec Clip(int steps) {
  v1::VideoSpec spec;
  spec.set_prompt("a boat on a lake");
  spec.set_width(64);
  spec.set_height(64);
  spec.set_num_frames(9);
  spec.set_num_inference_steps(steps);
  return spec;
}

void WaitForNotServing(ReeldProcess& reeld) {
  grpc::ClientContext context;
  auto reader = reeld.health().Watch(&context, pb::HealthCheckRequest());
  pb::HealthCheckResponse response;
  while (reader->Read(&response) && response.status() == pb::HealthCheckResponse::SERVING) {
  }
  context.TryCancel();
  (void)reader->Finish();
}

TEST(Drain, AnIdleServerGoesAtOnceAndTellsItsWatchers) {
  const TemporaryFolder folder;
  ReeldProcess reeld(folder.path());
  grpc::ClientContext context;
  auto reader = reeld.health().Watch(&context, pb::HealthCheckRequest());
  pb::HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::SERVING);
  reeld.Signal(SIGTERM);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), pb::HealthCheckResponse::NOT_SERVING);
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  const auto workers = reeld.Workers();
  EXPECT_EQ(reeld.WaitForExit(), 0);
  for (const pid_t worker : workers) EXPECT_NE(kill(worker, 0), 0) << "a worker is left";
}

TEST(Drain, ARunningStreamIsFinished) {
  const TemporaryFolder folder;
  ReeldProcess reeld(folder.path(), SlowConfig(30));
  grpc::ClientContext context;
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Clip(20);
  auto reader = reeld.video().GenerateVideo(&context, request);
  v1::GenerateVideoResponse response;
  bool told = false, finished = false;
  while (reader->Read(&response)) {
    if (!told && response.event().progress().step() >= 1) {
      told = true;
      reeld.Signal(SIGTERM);
    }
    finished = finished || response.event().has_finished();
  }
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(told && finished);
  EXPECT_EQ(reeld.WaitForExit(), 0);
}

TEST(Drain, ASecondSignalMeansNow) {
  const TemporaryFolder folder;
  ReeldProcess reeld(folder.path(), SlowConfig(500));
  grpc::ClientContext context;
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Clip(100);
  auto reader = reeld.video().GenerateVideo(&context, request);
  v1::GenerateVideoResponse response;
  while (reader->Read(&response) && response.event().progress().step() < 1) {
  }
  const absl::Time start = absl::Now();
  reeld.Signal(SIGTERM);
  // Two signals that nobody has taken yet are one.
  WaitForNotServing(reeld);
  reeld.Signal(SIGTERM);
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(reeld.WaitForExit(), 0);
  EXPECT_LT(absl::Now() - start, absl::Seconds(10)) << "the clip takes 50 s";
}

TEST(Drain, ADetachedJobGoesOnAfterTheRestartAndItsWatchIsEnded) {
  const TemporaryFolder folder;
  std::string name;
  {
    ReeldProcess reeld(folder.path(), SlowConfig(200, "timing { drain { nanos: 100000000 } }"));
    grpc::ClientContext context;
    v1::CreateVideoRequest request;
    *request.mutable_spec() = Clip(30);
    v1::CreateVideoResponse created;
    ASSERT_TRUE(reeld.video().CreateVideo(&context, request, &created).ok());
    name = created.video().name();
    grpc::ClientContext watch_context;
    v1::WatchVideoRequest watch;
    watch.set_name(name);
    auto reader = reeld.video().WatchVideo(&watch_context, watch);
    v1::WatchVideoResponse response;
    ASSERT_TRUE(reader->Read(&response));
    reeld.Signal(SIGTERM);
    while (reader->Read(&response)) {
    }
    EXPECT_EQ(ReasonIn(reader->Finish()), "SERVER_DRAINING");
    EXPECT_EQ(reeld.WaitForExit(), 0);
  }
  ReeldProcess again(folder.path(), SlowConfig(1));
  grpc::ClientContext context;
  v1::WatchVideoRequest watch;
  watch.set_name(name);
  auto reader = again.video().WatchVideo(&context, watch);
  v1::WatchVideoResponse response;
  bool finished = false;
  while (reader->Read(&response)) finished = finished || response.event().has_finished();
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace reel::server
