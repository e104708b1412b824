// SPDX-License-Identifier: Apache-2.0
// SIGKILL of reeld loses no finished video, and leaves no job that runs for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/time/clock.h"
#include "tests/integration/server/reeld_process.h"

namespace reel::server {
namespace {

v1::CreateVideoRequest Clip(int steps) {
  v1::CreateVideoRequest request;
  v1::VideoSpec& spec = *request.mutable_spec();
  spec.set_prompt("a boat on a lake");
  spec.set_width(64);
  spec.set_height(64);
  spec.set_num_frames(9);
  spec.set_num_inference_steps(steps);
  return request;
}

std::string Create(ReeldProcess& reeld, const v1::CreateVideoRequest& request) {
  grpc::ClientContext context;
  v1::CreateVideoResponse response;
  const grpc::Status status = reeld.video().CreateVideo(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.video().name();
}

// Watches to the end; the bytes of the file.
std::string Bytes(ReeldProcess& reeld, const std::string& name) {
  grpc::ClientContext context;
  v1::WatchVideoRequest request;
  request.set_name(name);
  auto reader = reeld.video().WatchVideo(&context, request);
  v1::WatchVideoResponse response;
  std::string bytes;
  while (reader->Read(&response)) {
    if (response.event().has_restarted()) bytes.clear();
    bytes += response.event().media().data();
  }
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  return bytes;
}

TEST(Restart, KeepsWhatIsFinishedAndRunsTheRestAgain) {
  const TemporaryFolder folder;
  std::string finished, running, queued, bytes;
  std::vector<pid_t> workers;
  {
    ReeldProcess reeld(folder.path(), SlowConfig(20));
    finished = Create(reeld, Clip(2));
    bytes = Bytes(reeld, finished);
    running = Create(reeld, Clip(100));
    queued = Create(reeld, Clip(100));
    workers = reeld.Workers();
    reeld.Signal(SIGKILL);
    EXPECT_EQ(reeld.WaitForExit(), -SIGKILL);
  }
  const absl::Time end = absl::Now() + absl::Seconds(20);
  for (const pid_t worker : workers) {
    while (kill(worker, 0) == 0 && absl::Now() < end) absl::SleepFor(absl::Milliseconds(5));
    EXPECT_NE(kill(worker, 0), 0) << "a worker outlived its parent";
  }
  ReeldProcess again(folder.path(), SlowConfig(1));
  EXPECT_EQ(Bytes(again, finished), bytes);
  EXPECT_FALSE(Bytes(again, running).empty());
  EXPECT_FALSE(Bytes(again, queued).empty());
}

}  // namespace
}  // namespace reel::server
