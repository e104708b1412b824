// SPDX-License-Identifier: Apache-2.0
// Finished videos are kept for the configured time, and are gone afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

class Expiry : public Conformance {
 protected:
  // A lone server looks for expired videos with every fifth heartbeat.
  static ServiceSetup Options() {
    return {.step_ms = 5,
            .faults = "faults { kind: 'nan' step: 2 prompt_contains: 'nan' }",
            .data = "keep { seconds: 3 }",
            .timing = "heartbeat { nanos: 200000000 }"};
  }
  static bool IsGone(Caller& caller, const std::string& name) {
    // A lone server lists it until its row is gone.
    const std::vector<std::string> names = caller.Names();
    return caller.Get(name).reason() == "VIDEO_NOT_FOUND" &&
           std::find(names.begin(), names.end(), name) == names.end();
  }
};

TEST_P(Expiry, TakesAVideoAndItsFileAndLeavesItsRequestId) {
  Service& service = Shared(Options());
  Caller caller(service.server());
  const std::string id = NewRequestId();
  const std::string name = caller.Create(SmallSpec("x"), id).video.name();
  const std::string failed = caller.Create(SmallSpec("nan")).video.name();
  const v1::Video video = caller.Await(name);
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(video.expire_time().seconds() - video.end_time().seconds(), 3);
  const v1::Video failure = caller.Await(failed);
  EXPECT_EQ(failure.expire_time().seconds() - failure.end_time().seconds(), 3600);
  ASSERT_TRUE(Eventually([&] { return IsGone(caller, name); }));
  EXPECT_GE(absl::ToUnixSeconds(absl::Now()), video.expire_time().seconds());
  std::string bytes;
  EXPECT_EQ(ReasonOf(service.Connect().Download(name, 0, &bytes)), "VIDEO_NOT_FOUND");
  EXPECT_EQ(ReasonOf(caller.Delete(name)), "VIDEO_NOT_FOUND");
  EXPECT_EQ(caller.Cancel(name).reason(), "VIDEO_NOT_FOUND");
  for (const char* const prompt : {"x", "another"}) {
    const Answer gone = caller.Create(SmallSpec(prompt), id);
    EXPECT_EQ(gone.reason(), "VIDEO_EXPIRED") << prompt << gone.video.DebugString();
  }
  EXPECT_TRUE(caller.Get(failed).ok());
}

TEST_P(Expiry, GoesOnWhileTheServiceIsDown) {
  Service service(GetParam(), Options());
  const std::string id = NewRequestId();
  std::string name;
  v1::Video video;
  {
    Caller caller(service.server());
    name = caller.Create(SmallSpec("x"), id).video.name();
    video = caller.Await(name);
  }
  service.Stop(SIGKILL);
  EXPECT_TRUE(
      Eventually([&] { return absl::ToUnixSeconds(absl::Now()) > video.expire_time().seconds(); }));
  service.Start();
  Caller caller(service.server());
  EXPECT_TRUE(Eventually([&] { return IsGone(caller, name); }));
  EXPECT_THAT(caller.Names(), IsEmpty());
  EXPECT_EQ(caller.Create(SmallSpec("x"), id).reason(), "VIDEO_EXPIRED");
}

REEL_EVERY_LIFE(Expiry);

}  // namespace
}  // namespace reel::tests
