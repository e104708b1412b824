// SPDX-License-Identifier: Apache-2.0
// Deadlines are kept whatever the device does, and what cannot be done in time takes no step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <random>
#include <thread>

#include "absl/time/clock.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr absl::Duration kLate = absl::Milliseconds(50);
absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

v1::VideoSpec Steps(int steps) {
  v1::VideoSpec spec = SmallSpec("x");
  spec.set_num_inference_steps(steps);
  return spec;
}

v1::GenerateVideoRequest Within(const v1::VideoSpec& spec, absl::Duration timeout) {
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  request.set_without_media(true);
  request.mutable_timeout()->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(timeout) % 1'000'000'000));
  request.mutable_timeout()->set_seconds(absl::ToInt64Seconds(timeout));
  return request;
}

// A worker that stands still now and then for longer than any estimate knows of, and less than a
// worker may.
class Stumbling {
 public:
  Stumbling(pid_t worker, unsigned seed) : worker_(worker), thread_([this, seed] { Run(seed); }) {}
  ~Stumbling() {
    over_ = true;
    thread_.join();
    ::kill(worker_, SIGCONT);
  }

 private:
  void Run(unsigned seed) {
    std::mt19937 random(seed);
    while (!over_) {
      Wait(absl::Milliseconds(100 + random() % 200));
      ::kill(worker_, SIGSTOP);
      Wait(absl::Milliseconds(50 + random() % 250));
      ::kill(worker_, SIGCONT);
    }
  }
  void Wait(absl::Duration duration) const {
    Eventually([&] { return over_.load(); }, duration);
  }

  const pid_t worker_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

struct Tally {
  std::atomic<int> in_time = 0, hopeless = 0, passed = 0;
  std::vector<absl::Duration> late,
      heard_late;  // of the last kind: by the server's times, and by ours
};

void RunOne(Calls& calls, absl::Duration timeout, int steps, Tally& tally) {
  std::string name;
  const absl::Time start = absl::Now();
  const StreamResult result =
      calls.Generate(Within(Steps(steps), timeout), [&](const v1::VideoEvent& event) {
        if (event.has_accepted()) name = event.accepted().name();
        return true;
      });
  const absl::Duration took = absl::Now() - start;
  if (result.reason() == "DEADLINE_UNREACHABLE") {
    ++tally.hopeless;
    EXPECT_THAT(result.events, ::testing::IsEmpty());
    return;
  }
  ASSERT_TRUE(result.status.ok() || result.reason() == "DEADLINE_PASSED")
      << result.status.error_message();
  ASSERT_FALSE(name.empty());
  const v1::Video video = calls.Get(name);
  const absl::Duration late = ToTime(video.end_time()) - ToTime(video.create_time()) - timeout;
  if (result.status.ok()) {
    ++tally.in_time;
    EXPECT_LE(late, kLate) << "a video that came too late was delivered";
    return;
  }
  ++tally.passed;
  EXPECT_GE(late, -absl::Milliseconds(1)) << "ended before its time";
  tally.late.push_back(late);
  tally.heard_late.push_back(took - timeout);
}

TEST(Deadline, TwoHundredRandomOnesAreKept) {
  constexpr int kJobs = 200;   // and more, until enough of them were ended by their deadlines:
  constexpr int kPassed = 20;  // the more a worker stumbles, the more jobs are refused as hopeless
  const absl::Time last = absl::Now() + absl::Minutes(2);
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  // A deadline is checked before the file is synced to the disk, and a disk may take any time.
  const testing::TempFolder folder(testing::TempFolder::Fast());
  ServerSetup setup;  // 20 ms a step
  setup.data_folder = folder.File("data");
  ReelServer server(setup);
  Calls calls(server.Connect());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(calls.Generate(Steps(4)).status.ok());
  const std::vector<pid_t> workers = server.Children();
  ASSERT_EQ(workers.size(), 1U);
  Tally tally;
  int jobs = 0;
  {
    const Stumbling stumbling(workers[0], seed + 1);
    const auto enough = [&] { return jobs >= kJobs && tally.passed >= kPassed; };
    for (; !enough() && absl::Now() < last && !::testing::Test::HasFailure(); ++jobs) {
      RunOne(calls, absl::Milliseconds(30 + random() % 270), 1 + static_cast<int>(random() % 6),
             tally);
    }
  }
  ASSERT_FALSE(::testing::Test::HasFailure());
  ASSERT_GE(tally.passed, kPassed) << "too few of " << jobs << " for a figure";
  std::ranges::sort(tally.late);
  std::ranges::sort(tally.heard_late);
  std::cout << "FIGURE " << jobs << " deadlines of 30 to 300 ms: " << tally.in_time << " in time, "
            << tally.hopeless << " refused as hopeless, " << tally.passed
            << " ended by theirs, at most " << tally.late.back() << " after it (heard of at most "
            << tally.heard_late.back() << " after it)\n";
  EXPECT_LE(tally.late.back(), kLate);
}

// A short video shares the steps of a long one.
TEST(Deadline, OfAShortVideoBesideALongOneIsKept) {
  constexpr int kShort = 14;
  ServerSetup setup;
  setup.config = SlowConfig(80);
  ReelServer server(setup);
  Calls calls(server.Connect());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(calls.Generate(Steps(4)).status.ok());
  int refused = 0, late = 0;
  std::string running;
  for (int i = 0; i < kShort; ++i) {
    if (i % 3 == 0) {
      running = calls.Create(Steps(60)).name();
      ASSERT_TRUE(Eventually([&] { return calls.Get(running).progress().step() > 0; }));
    }
    const StreamResult result = calls.Generate(Within(Steps(4), absl::Seconds(2)));
    refused += result.reason() == "DEADLINE_UNREACHABLE" ? 1 : 0;
    late += result.reason() == "DEADLINE_PASSED" ? 1 : 0;
    if (i % 3 != 2) continue;
    v1::CancelVideoRequest cancel;
    cancel.set_name(running);
    v1::CancelVideoResponse cancelled;
    grpc::ClientContext context;
    ASSERT_TRUE(calls.videos().CancelVideo(&context, cancel, &cancelled).ok());
    calls.Await(running);
  }
  std::cout << "FIGURE " << kShort << " videos of 4 steps with 2 s beside one of 60: " << refused
            << " refused, " << late << " late\n";
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(late, 0);
}

// Where steps are not shared it passes them; each of them has two minutes.
TEST(Deadline, OfAShortVideoBehindThreeLongOnesOfItsTenantIsKept) {
  constexpr int kShort = 3;  // a video is suspended no more often
  ServerSetup setup;
  setup.config = SlowConfig(40) + "scheduler { fill_rows: 1 }\n";
  ReelServer server(setup);
  Calls calls(server.Connect());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(calls.Generate(Steps(4)).status.ok());
  std::vector<std::string> before;
  for (int i = 0; i < 3; ++i) {
    v1::CreateVideoRequest request;
    *request.mutable_spec() = Steps(60);
    request.mutable_timeout()->set_seconds(120);
    v1::CreateVideoResponse response;
    grpc::ClientContext context;
    ASSERT_TRUE(calls.videos().CreateVideo(&context, request, &response).ok());
    before.push_back(response.video().name());
  }
  for (int i = 0; i < kShort; ++i) {
    const StreamResult result = calls.Generate(Within(Steps(4), absl::Seconds(2)));
    EXPECT_TRUE(result.status.ok()) << i << ": " << result.status.error_message();
  }
  for (const std::string& name : before) {
    EXPECT_EQ(calls.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
  }
}

TEST(Deadline, WhatCannotBeDoneInTimeTakesNoStep) {
  ReelServer server;
  Calls calls(server.Connect());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(calls.Generate(Steps(4)).status.ok());
  const auto steps = [&] { return server.Metric("reel_denoise_step_duration_seconds_count"); };
  ASSERT_TRUE(Eventually([&] { return steps() == 12; }));
  std::mt19937 random(8);
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    const StreamResult result =
        calls.Generate(Within(Steps(20), absl::Milliseconds(1 + random() % 350)));
    refused += result.reason() == "DEADLINE_UNREACHABLE" ? 1 : 0;
  }
  EXPECT_EQ(refused, 100);
  EXPECT_EQ(calls.List().size(), 3U);
  EXPECT_EQ(steps(), 12);
  std::cout << "FIGURE 100 hopeless deadlines: " << refused << " refused, " << steps() - 12
            << " steps\n";
}

}  // namespace
}  // namespace reel::tests
