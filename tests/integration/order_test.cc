// SPDX-License-Identifier: Apache-2.0
// The order of videos on a device, by the real programs. A queued video can be overtaken; a running
// one is suspended for a video that would be late, and ends with the same file. Other orders are in
// plan_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

// Why nobody shares a step: those who share one run at once, and there is no order between them.
struct OneAtATime {
  const char* name;
  const char* scheduler;  // of the configuration
  const char* profile;    // of the videos
};
constexpr OneAtATime kNoPacking = {"WithoutPacking", "scheduler { fill_rows: 1 }", "auto"};
constexpr OneAtATime kByProfile = {"ByProfile", "", "batch_invariant"};

class Order : public ::testing::TestWithParam<OneAtATime> {
 protected:
  static ServerSetup Setup(int step_ms) {
    return {.config = absl::StrCat(SlowConfig(step_ms), GetParam().scheduler, "\n"),
            .flags = {},
            .data_folder = "",
            .wait_ready = true};
  }
  static v1::VideoSpec SpecOf(const std::string& prompt, int steps) {
    v1::VideoSpec spec = SmallSpec(prompt);
    spec.set_num_inference_steps(steps);
    spec.mutable_kernels()->set_profile(GetParam().profile);
    return spec;
  }
};

std::string CreateOf(Calls& calls, const v1::VideoSpec& spec, v1::Priority priority) {
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec;
  request.set_priority(priority);
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  const grpc::Status status = calls.videos().CreateVideo(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.video().name();
}

double SecondsOf(const google::protobuf::Timestamp& time) {
  return static_cast<double>(time.seconds()) + 1e-9 * time.nanos();
}

double StartOf(Calls& calls, const std::string& name) {
  const v1::Video video = calls.Await(name);
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED);
  return SecondsOf(video.start_time());
}

// Calls back once, when the video has done so many steps.
StreamResult GenerateAnd(Calls& calls, const v1::VideoSpec& spec, int step,
                         const std::function<void()>& then) {
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  bool done = false;
  return calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (!done && event.has_progress() && event.progress().step() >= step) {
      done = true;
      then();
    }
    return true;
  });
}

TEST_P(Order, AHighVideoBeginsBeforeThoseThatItsWorkerHolds) {
  ReelServer server(Setup(20));
  Calls calls(server.Connect());
  Calls others(server.Connect());
  std::vector<std::string> names;
  const StreamResult running = GenerateAnd(calls, SpecOf("running", 40), 1, [&] {
    for (const char* prompt : {"held", "waiting"}) {
      names.push_back(CreateOf(others, SpecOf(prompt, 20), v1::PRIORITY_NORMAL));
    }
    names.push_back(CreateOf(others, SpecOf("high", 20), v1::PRIORITY_HIGH));
  });
  EXPECT_TRUE(running.is_finished) << running.status.error_message();
  ASSERT_EQ(names.size(), 3u);
  const double high = StartOf(others, names[2]);
  EXPECT_LT(high, StartOf(others, names[0]));
  EXPECT_LT(high, StartOf(others, names[1]));
}

TEST_P(Order, ARunningVideoMakesWayForOneThatWouldBeLateAndIsTheSameFile) {
  ReelServer server(Setup(30));
  Calls calls(server.Connect());
  Calls others(server.Connect());
  const v1::VideoSpec spec = SpecOf("long", 100);
  const StreamResult solo = calls.Generate(spec);
  ASSERT_TRUE(solo.is_finished) << solo.status.error_message();

  v1::GenerateVideoRequest urgent;
  *urgent.mutable_spec() = SpecOf("urgent", 8);
  urgent.mutable_timeout()->set_seconds(2);  // the other has three to go
  StreamResult first;
  std::thread caller;
  const StreamResult parked = GenerateAnd(
      calls, spec, 10, [&] { caller = std::thread([&] { first = others.Generate(urgent); }); });
  caller.join();
  EXPECT_TRUE(first.is_finished) << first.status.error_message();
  ASSERT_TRUE(parked.is_finished) << parked.status.error_message();
  EXPECT_EQ(Sha256Hex(parked.file), Sha256Hex(solo.file));
  EXPECT_EQ(parked.restarts, 0);
  EXPECT_EQ(server.Metric("reel_preemptions_total"), 1);
  const bool shown = std::any_of(parked.events.begin(), parked.events.end(), [](const auto& event) {
    return event.progress().stage() == v1::STAGE_QUEUE && event.progress().step() > 0 &&
           event.progress().queue_position() == 1;
  });
  EXPECT_TRUE(shown);
  EXPECT_LT(SecondsOf(first.finished.end_time()), SecondsOf(parked.finished.end_time()));
}

INSTANTIATE_TEST_SUITE_P(Videos, Order, ::testing::Values(kNoPacking, kByProfile),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace reel::tests
