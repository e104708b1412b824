// SPDX-License-Identifier: Apache-2.0
// A fault of a device, a step or the disk costs its job and nobody else's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"
#include "tests/integration/small_disk.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

v1::VideoSpec Steps(const std::string& prompt, int steps) {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(steps);
  return spec;
}

TEST(Fault, AStickyDeviceErrorFailsThePoisonerAndSparesTheOther) {
  ServerSetup setup;
  setup.config = FaultyConfig("sticky", 10, "poison");
  ReelServer server(setup);
  Calls calls(server.Connect());
  const std::string good = calls.Create(Steps("good", 40)).name();
  const std::string bad = calls.Create(Steps("poison", 40)).name();
  const v1::Video failed = calls.Await(bad);
  EXPECT_EQ(failed.state(), v1::VIDEO_STATE_FAILED);
  EXPECT_EQ(failed.error().code(), static_cast<int>(grpc::StatusCode::INTERNAL));
  EXPECT_EQ(calls.Await(good).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_TRUE(server.Alive());
}

TEST(Fault, ALostDeviceIsBlamedOnNoJobThatWasSentAfterIt) {
  ServerSetup setup;
  setup.config = "scheduler { order: 'fifo' }\n" + FaultyConfig("sticky", 10, "poison");
  ReelServer server(setup);
  Calls calls(server.Connect());
  std::vector<std::string> innocent;
  const std::string poison = calls.Create(Steps("poison", 40)).name();
  for (int i = 0; i < 3; ++i) innocent.push_back(calls.Create(Steps("good", 20)).name());
  EXPECT_EQ(calls.Await(poison).state(), v1::VIDEO_STATE_FAILED);
  // Into the moment in which the worker is known to be lost and has not ended yet.
  innocent.push_back(calls.Create(Steps("good", 20)).name());
  for (const std::string& name : innocent) {
    const v1::Video video = calls.Await(name);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
  }
  EXPECT_EQ(server.Metric("reel_rejections_total", "SHAPE_QUARANTINED"), 0);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 1);
}

TEST(Fault, BadNumbersNeverLeave) {
  ServerSetup setup;
  setup.config = FaultyConfig("nan", 2, "nan");
  ReelServer server(setup);
  Calls calls(server.Connect());
  const StreamResult bad = calls.Generate(SmallSpec("nan"));
  EXPECT_EQ(bad.status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(bad.reason(), "NUMERICAL_FAULT");
  EXPECT_THAT(bad.file, IsEmpty());
  EXPECT_TRUE(calls.Generate(SmallSpec("fine")).status.ok());
}

// Of the card's short steps: the watchdog's floor (server/front/jobs/slots.cc).
constexpr absl::Duration kWatchdog = absl::Seconds(5);

TEST(Fault, AHangEndsAtTheWatchdogAndTheNextJobRuns) {
  ServerSetup setup;
  setup.config = FaultyConfig("hang", 2, "hang");
  ReelServer server(setup);
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("hang");
  absl::Time hung;  // a step before, since the stuck one brings no event
  const StreamResult result = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_progress() && event.progress().step() <= 1) hung = absl::Now();
    return true;
  });
  const absl::Duration ended = absl::Now() - hung;
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_TRUE(calls.Generate(SmallSpec("fine")).status.ok());
  std::cout << "FIGURE a step without an end: its job ends after " << ended
            << ", the next one after " << absl::Now() - hung << "\n";
  EXPECT_LE(ended, kWatchdog + absl::Seconds(1));
  EXPECT_EQ(server.Metric("reel_worker_restarts_total", "reason=\"hang\""), 1);
}

size_t FilesIn(const std::string& folder) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  return files;
}

TEST(Fault, AFullDiskFailsTheOneJobAndListsNoPartialFile) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: no right to mount a small disk";
  ServerSetup setup;
  setup.data_folder = disk.path("data");
  ReelServer server(setup);
  Calls calls(server.Connect());
  ASSERT_TRUE(calls.Generate(SmallSpec("small")).status.ok());
  v1::VideoSpec large = SmallSpec("large");  // two MB
  large.set_width(1280);
  large.set_height(1024);
  large.set_num_frames(121);
  large.mutable_encoding()->set_crf(0);
  large.mutable_encoding()->set_speed(v1::ENCODING_SPEED_ULTRAFAST);
  const StreamResult full = calls.Generate(large);
  EXPECT_EQ(full.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(full.reason(), "STORE_FULL");
  EXPECT_TRUE(Eventually([&] { return FilesIn(disk.path("data/media")) == 1; }));
  int succeeded = 0;
  for (const v1::Video& video : calls.List())
    succeeded += video.state() == v1::VIDEO_STATE_SUCCEEDED;
  EXPECT_EQ(succeeded, 1);
  EXPECT_TRUE(calls.Generate(SmallSpec("small again")).status.ok());
}

}  // namespace
}  // namespace reel::tests
