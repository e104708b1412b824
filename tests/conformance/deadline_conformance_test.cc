// SPDX-License-Identifier: Apache-2.0
// Deadlines: what cannot meet one is refused, what misses one ends by it, wherever it is then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "absl/time/clock.h"
#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

// Enough for a busy machine to begin a video, or to end a service.
constexpr absl::Duration kSoon = absl::Seconds(3);

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

class Deadline : public Conformance {
 protected:
  static ServiceSetup Options() {
    return {.faults = "faults { kind: 'hang' step: 2 prompt_contains: 'stuck' }",
            .more = "scheduler { order: 'fifo' fill_rows: 1 }"};
  }
  Service& service() { return Shared(Options()); }
  static v1::CreateVideoRequest Within(const v1::VideoSpec& spec, absl::Duration timeout) {
    v1::CreateVideoRequest request;
    *request.mutable_spec() = spec;
    request.mutable_timeout()->set_seconds(absl::ToInt64Seconds(timeout));
    request.mutable_timeout()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(timeout) % 1'000'000'000));
    return request;
  }
  static void ExpectExpired(const v1::Video& video) {
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_FAILED) << video.DebugString();
    EXPECT_EQ(video.error().code(), static_cast<int>(grpc::StatusCode::DEADLINE_EXCEEDED));
    EXPECT_EQ(ErrorOf(video), "DEADLINE_PASSED");
    EXPECT_GE(ToTime(video.end_time()), ToTime(video.deadline()) - absl::Milliseconds(5));
  }
  static void CancelAll(Caller& caller, const std::vector<std::string>& names) {
    for (const std::string& name : names) caller.Cancel(name);
    for (const std::string& name : names) caller.Await(name);
  }
};

TEST_P(Deadline, IsTheTimeoutThatWasAskedForOrTheServersOwn) {
  Caller caller(service().server());
  const v1::Video own = caller.Create(Within(SmallSpec("x"), absl::Seconds(77))).video;
  EXPECT_EQ(ToTime(own.deadline()) - ToTime(own.create_time()), absl::Seconds(77));
  const v1::Video servers = caller.Create(SmallSpec("x")).video;
  EXPECT_EQ(ToTime(servers.deadline()) - ToTime(servers.create_time()), absl::Minutes(10));
  EXPECT_EQ(caller.Create(Within(SmallSpec("x"), absl::Hours(5))).reason(), "INVALID_REQUEST");
  caller.Await(own.name());
  caller.Await(servers.name());
}

TEST_P(Deadline, ThatIsHopelessIsRefusedBeforeAnyStep) {
  Calls calls = service().Connect();
  Caller caller(service().server());
  ASSERT_TRUE(calls.Generate(SmallSpec("warm")).status.ok());
  const size_t videos = caller.Names().size();
  const Answer refused = caller.Create(Within(Steps("x", 100), absl::Milliseconds(300)));
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(refused.reason(), "DEADLINE_UNREACHABLE");
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Steps("x", 100);
  request.mutable_timeout()->set_nanos(300'000'000);
  const StreamResult stream = calls.Generate(request);
  EXPECT_EQ(stream.reason(), "DEADLINE_UNREACHABLE");
  EXPECT_THAT(stream.events, IsEmpty());
  EXPECT_EQ(caller.Names().size(), videos);
}

TEST_P(Deadline, EndsARunningVideoAndItsStreams) {
  Calls calls = service().Connect();
  Caller caller(service().server());
  const std::string name = caller.Create(Within(SmallSpec("stuck"), kSoon)).video.name();
  v1::WatchVideoRequest watch;
  watch.set_name(name);
  const StreamResult stream = calls.Watch(watch);
  EXPECT_EQ(stream.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(stream.reason(), "DEADLINE_PASSED");
  ExpectExpired(caller.Await(name));
}

// A call's own deadline is its video's.
TEST_P(Deadline, ReachesACallAsAVerdict) {
  Calls calls = service().Connect();
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("stuck");
  // The verdict has 180 ms to come before the caller's own clock ends the call: beside other work
  // on the machine it must in one of five rounds.
  StreamResult result;
  for (int round = 0; round < 5 && result.reason().empty(); ++round) {
    result = calls.Generate(request, nullptr, kSoon);
  }
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(result.reason(), "DEADLINE_PASSED");
}

TEST_P(Deadline, EndsAQueuedVideo) {
  Caller caller(service().server());
  std::vector<std::string> before;
  for (int i = 0; i < 2; ++i) before.push_back(caller.Create(SmallSpec("stuck")).video.name());
  const Answer waits = caller.Create(Within(SmallSpec("x"), kSoon));
  ASSERT_TRUE(waits.ok()) << waits.status.error_message();
  const v1::Video video = caller.Await(waits.video.name());
  ExpectExpired(video);
  EXPECT_FALSE(video.has_start_time());
  CancelAll(caller, before);
}

TEST_P(Deadline, PassesWhileTheServiceIsDown) {
  Service service(GetParam(), Options());
  for (const int signal : {SIGTERM, SIGKILL}) {
    v1::Video running, queued;
    {
      Caller caller(service.server());
      running = caller.Create(Within(SmallSpec("stuck"), kSoon)).video;
      queued = caller.Create(Within(SmallSpec("x"), kSoon)).video;
      caller.AwaitStep(running.name());
    }
    service.Stop(signal);
    EXPECT_TRUE(Eventually([&] { return absl::Now() > ToTime(queued.deadline()); }));
    service.Start();
    Caller caller(service.server());
    ExpectExpired(caller.Await(running.name()));
    ExpectExpired(caller.Await(queued.name()));
  }
}

REEL_EVERY_LIFE(Deadline);

}  // namespace
}  // namespace reel::tests
