// SPDX-License-Identifier: Apache-2.0
// What reeld promises as a program: it serves, refuses and counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/integration/server/reeld_process.h"

namespace reel::server {
namespace {

using testing::HasSubstr;

v1::GenerateVideoRequest SmallClip(int steps = 3) {
  v1::GenerateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat on a lake");
  request.mutable_spec()->set_width(64);
  request.mutable_spec()->set_height(64);
  request.mutable_spec()->set_num_frames(9);
  request.mutable_spec()->set_num_inference_steps(steps);
  return request;
}

TEST(Reeld, StreamsAVideoAndKeepsIt) {
  const TemporaryFolder folder;
  ReeldProcess reeld(folder.path());
  grpc::ClientContext context;
  auto reader = reeld.video().GenerateVideo(&context, SmallClip());
  v1::GenerateVideoResponse response;
  std::string bytes, last;
  v1::Video finished;
  while (reader->Read(&response)) {
    const v1::VideoEvent& event = response.event();
    bytes += event.media().data();
    if (event.has_finished()) finished = event.finished();
  }
  ASSERT_TRUE(reader->Finish().ok());
  EXPECT_EQ(finished.state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(finished.media().size_bytes(), static_cast<int64_t>(bytes.size()));
  EXPECT_THAT(bytes.substr(0, 16), HasSubstr("ftyp"));

  grpc::ClientContext download_context;
  v1::DownloadVideoRequest download;
  download.set_name(finished.name());
  download.set_read_offset(100);
  auto chunks = reeld.video().DownloadVideo(&download_context, download);
  v1::DownloadVideoResponse chunk;
  std::string tail;
  while (chunks->Read(&chunk)) tail += chunk.chunk().data();
  EXPECT_TRUE(chunks->Finish().ok());
  EXPECT_EQ(tail, bytes.substr(100));
}

TEST(Reeld, CountsWhatItsClientsSaw) {
  const TemporaryFolder folder;
  ReeldProcess reeld(folder.path());
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    auto reader = reeld.video().GenerateVideo(&context, SmallClip());
    v1::GenerateVideoResponse response;
    while (reader->Read(&response)) {
    }
    ASSERT_TRUE(reader->Finish().ok());
  }
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    auto request = SmallClip();
    request.mutable_spec()->set_width(65);
    auto reader = reeld.video().GenerateVideo(&context, request);
    EXPECT_EQ(ReasonIn(reader->Finish()), "INVALID_SPEC");
  }
  const std::string metrics = reeld.Get("/metrics");
  EXPECT_THAT(
      metrics,
      HasSubstr("\nreel_requests_total{mode=\"stream\",outcome=\"ok\",profile=\"auto\"} 3\n"));
  EXPECT_THAT(metrics, HasSubstr("outcome=\"invalid\",profile=\"none\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("\nreel_rejections_total{reason=\"INVALID_SPEC\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("\nreel_frames_total 27\n"));
  EXPECT_THAT(metrics, HasSubstr("\nreel_first_event_duration_seconds_count 3\n"));
}

TEST(Reeld, AWorkerThatIsKilledCostsTimeOnly) {
  const TemporaryFolder folder;
  ReeldProcess reeld(folder.path(), SlowConfig(50));
  grpc::ClientContext context;
  auto reader = reeld.video().GenerateVideo(&context, SmallClip(40));
  v1::GenerateVideoResponse response;
  bool killed = false, restarted = false, finished = false;
  while (reader->Read(&response)) {
    const v1::VideoEvent& event = response.event();
    if (!killed && event.progress().step() >= 2) {
      killed = true;
      for (const pid_t worker : reeld.Workers()) kill(worker, SIGKILL);
    }
    restarted = restarted || event.has_restarted();
    finished = finished || event.has_finished();
  }
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(killed && restarted && finished);
}

TEST(Reeld, ABadConfigurationEndsAtOnceAndNamesEveryKey) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/bad.textproto";
  std::ofstream(path) << "lisen: '127.0.0.1:0'\nscheduler { order: 'stepps' }\n";
  for (const char* flag : {"--check_config", "--log=info"}) {
    const RunResult result =
        RunReeld({"--config=" + path, "--data_dir=" + folder.path() + "/d", flag});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_THAT(result.errors, HasSubstr("'listen'"));
    EXPECT_THAT(result.errors, HasSubstr("scheduler.order"));
    EXPECT_LT(result.took, absl::Seconds(2));
  }
}

TEST(Reeld, OneDataFolderHasOneServer) {
  const TemporaryFolder folder;
  const ReeldProcess first(folder.path(), "", /*wait_until_ready=*/false);
  const RunResult second = RunReeld(
      {"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--data_dir=" + folder.path() + "/data"});
  EXPECT_EQ(second.exit_status, 1);
  EXPECT_THAT(second.errors, HasSubstr(folder.path() + "/data"));
}

TEST(Reeld, AMissingWorkerProgramIsNamed) {
  const TemporaryFolder folder;
  const RunResult result =
      RunReeld({"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0",
                "--data_dir=" + folder.path() + "/data", "--worker-binary=/nowhere/worker"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.errors, HasSubstr("/nowhere/worker"));
}

}  // namespace
}  // namespace reel::server
