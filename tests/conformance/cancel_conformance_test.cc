// SPDX-License-Identifier: Apache-2.0
// Cancelling a video: its owner cancels it by a call, or by leaving the stream that it depends on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

class Cancel : public Conformance {
 protected:
  // One video at a time, so that others wait.
  Service& service() { return Shared({.more = "scheduler { order: 'fifo' fill_rows: 1 }"}); }
  static v1::GenerateVideoRequest Generation(const v1::VideoSpec& spec) {
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = spec;
    return request;
  }
  static void ExpectCancelled(const v1::Video& video) {
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_CANCELLED) << video.DebugString();
    EXPECT_EQ(video.error().code(), static_cast<int>(grpc::StatusCode::CANCELLED));
    EXPECT_TRUE(video.has_end_time() && video.has_expire_time());
  }
  static void ExpectLeft(const v1::Video& video) {
    ExpectCancelled(video);
    EXPECT_EQ(ErrorOf(video), "OWNER_LEFT");
  }
};

TEST_P(Cancel, EndsTheStreamAndTheVideo) {
  Calls calls = service().Connect();
  Caller caller(service().server());
  std::string name;
  Answer answer;
  const StreamResult result =
      calls.Generate(Generation(Steps("x", 100)), [&](const v1::VideoEvent& event) {
        if (event.has_accepted()) name = event.accepted().name();
        if (event.has_progress() && event.progress().step() >= 2) answer = caller.Cancel(name);
        return true;
      });
  EXPECT_TRUE(answer.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.video.name(), name);
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(result.reason(), "CANCELLED_BY_OWNER");
  const v1::Video video = caller.Await(name);
  ExpectCancelled(video);
  EXPECT_EQ(ErrorOf(video), "CANCELLED_BY_OWNER");
  v1::WatchVideoRequest watch;
  watch.set_name(name);
  EXPECT_EQ(calls.Watch(watch).reason(), "CANCELLED_BY_OWNER");
}

TEST_P(Cancel, OfWhatHasEndedChangesNothing) {
  Caller caller(service().server());
  const std::string finished = caller.Create(SmallSpec("x")).video.name();
  const std::string cancelled = caller.Create(Steps("x", 100)).video.name();
  EXPECT_TRUE(caller.Cancel(cancelled).ok());
  for (const std::string& name : {finished, cancelled}) {
    const v1::Video before = caller.Await(name);
    const Answer answer = caller.Cancel(name);
    EXPECT_EQ(answer.video.state(), before.state()) << answer.status.error_message();
    EXPECT_EQ(caller.Get(name).video.SerializeAsString(), before.SerializeAsString());
  }
}

TEST_P(Cancel, OfAQueuedVideoTakesNoStep) {
  Caller caller(service().server());
  const std::string runs = caller.Create(Steps("runs", 100)).video.name();
  caller.AwaitStep(runs);
  std::vector<std::string> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(caller.Create(Steps("waits", 100)).video.name());
  EXPECT_EQ(caller.Get(waiting.back()).video.state(), v1::VIDEO_STATE_QUEUED);
  for (const std::string& name : waiting) EXPECT_TRUE(caller.Cancel(name).ok());
  for (const std::string& name : waiting) {
    const v1::Video video = caller.Await(name);
    ExpectCancelled(video);
    EXPECT_EQ(ErrorOf(video), "CANCELLED_BY_OWNER");
    EXPECT_FALSE(video.has_start_time());
    EXPECT_EQ(video.progress().step(), 0);
  }
  EXPECT_EQ(caller.Get(runs).video.state(), v1::VIDEO_STATE_RUNNING);
  EXPECT_TRUE(caller.Cancel(runs).ok());
  caller.Await(runs);
}

TEST_P(Cancel, ByLeavingABoundStreamRunningOrQueued) {
  Caller caller(service().server());
  std::atomic<bool> may_leave = false;
  std::string running;
  std::thread bound([&] {
    Calls calls = service().Connect();
    calls.Generate(Generation(Steps("left", 100)), [&](const v1::VideoEvent& event) {
      if (event.has_accepted()) running = event.accepted().name();
      return !(event.has_progress() && event.progress().step() >= 1 && may_leave);
    });
  });
  ASSERT_TRUE(
      Eventually([&] { return !caller.List(1, "", {v1::VIDEO_STATE_RUNNING}).videos.empty(); }));
  std::string queued;
  Calls calls = service().Connect();
  calls.Generate(Generation(Steps("left waiting", 100)), [&](const v1::VideoEvent& event) {
    queued = event.accepted().name();
    return false;
  });
  ExpectLeft(caller.Await(queued));
  may_leave = true;
  bound.join();
  ExpectLeft(caller.Await(running));
}

TEST_P(Cancel, IsNotWhatLeavingADetachedStreamOrAWatchMeans) {
  Calls calls = service().Connect();
  Caller caller(service().server());
  v1::GenerateVideoRequest request = Generation(Steps("x", 10));
  request.set_detached(true);
  std::string name;
  calls.Generate(request, [&](const v1::VideoEvent& event) {
    name = event.accepted().name();
    return false;
  });
  v1::WatchVideoRequest watch;
  watch.set_name(name);
  calls.Watch(watch, [](const v1::VideoEvent&) { return false; });
  EXPECT_EQ(caller.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
}

// Whoever else asked for it still wants it.
TEST_P(Cancel, IsNotWhatLeavingMeansWhileAnotherCallDependsOnTheVideo) {
  Caller caller(service().server());
  const std::string id = NewRequestId();
  v1::GenerateVideoRequest request = Generation(Steps("shared", 100));
  request.set_request_id(id);
  Calls leaver = service().Connect(), stayer = service().Connect();
  StreamResult stayed;
  std::atomic<bool> joined = false;
  std::thread staying;
  leaver.Generate(request, [&](const v1::VideoEvent& event) {
    if (!event.has_accepted()) return true;
    staying = std::thread([&] {
      stayed = stayer.Generate(request, [&](const v1::VideoEvent&) {
        joined = true;
        return true;
      });
    });
    EXPECT_TRUE(Eventually([&] { return joined.load(); }));
    return false;
  });
  staying.join();
  EXPECT_TRUE(stayed.is_finished) << stayed.status.error_message();
  // One who created it with the same id made it independent of streams.
  request.set_request_id(NewRequestId());
  std::string name;
  leaver.Generate(request, [&](const v1::VideoEvent& event) {
    name = event.accepted().name();
    EXPECT_EQ(caller.Create(request.spec(), request.request_id()).video.name(), name);
    return false;
  });
  EXPECT_EQ(caller.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
}

REEL_EVERY_LIFE(Cancel);

}  // namespace
}  // namespace reel::tests
