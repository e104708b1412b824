// SPDX-License-Identifier: Apache-2.0
// A lone server goes on with a data folder that it filled before it kept its videos in a log:
// tests/conformance/kept_folder, whose README says what is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

constexpr char kExpired[] = "videos/txckit-jianwauxq2wirwaixpmb7bmfmw";
constexpr char kDamaged[] = "videos/txckit-beqmlvbexcmx4eqju3a7zhit3y";

ServiceSetup Kept() {
  return {.step_ms = 5,
          .more = "scheduler { order: 'fifo' fill_rows: 1 }",
          .kept = std::string(std::getenv("REEL_SOURCE")) + "/tests/conformance/kept_folder"};
}

std::string RequestId(int number) {
  return "00000000-0000-4000-8000-00000000000" + std::to_string(number);
}

v1::VideoSpec KeptSpec(const std::string& prompt) {
  v1::VideoSpec spec;
  spec.set_prompt(prompt);
  spec.set_width(64);
  spec.set_height(64);
  spec.set_num_frames(9);
  spec.set_num_inference_steps(2);
  spec.set_seed(7);
  return spec;
}

class TakeOver : public Conformance {
 protected:
  // Those of a year, by prompt: what has ended without a result was kept for an hour.
  static std::map<std::string, std::string> Videos(Caller& caller) {
    std::map<std::string, std::string> names;
    for (const std::string& name : caller.Names()) {
      const v1::Video video = caller.Get(name).video;
      const bool is_short =
          video.state() == v1::VIDEO_STATE_FAILED || video.state() == v1::VIDEO_STATE_CANCELLED;
      if (!is_short) names[video.spec().prompt()] = name;
    }
    return names;
  }
};

TEST_P(TakeOver, WhatWaitedAndRanIsRenderedToItsEnd) {
  Service service(GetParam(), Kept());
  Caller caller(service.server());
  for (const int number : {6, 7}) {
    const bool ran = number == 6;
    v1::VideoSpec spec = KeptSpec(ran ? "running" : "queued");
    spec.set_num_inference_steps(ran ? 40 : 3);
    const Answer known = caller.Create(spec, RequestId(number));
    ASSERT_TRUE(known.ok()) << known.status.error_message();
    EXPECT_TRUE(absl::StartsWith(known.video.name(), "videos/txckit-"));
    const v1::Video video = caller.Await(known.video.name());
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
    EXPECT_EQ(video.attempt() > 1, ran) << "who waited was not begun";
    std::string bytes;
    EXPECT_TRUE(service.Connect().Download(video.name(), 0, &bytes).ok());
    EXPECT_EQ(video.media().sha256(), Sha256Hex(bytes));
  }
  EXPECT_THAT(Videos(caller), ElementsAre(Key("broken file"), Key("finished"), Key("plain"),
                                          Key("queued"), Key("running")));
}

TEST_P(TakeOver, AFinishedVideoAndItsFileStayAndADamagedOneCostsItself) {
  Service service(GetParam(), Kept());
  for (int start = 0; start < 2; ++start) {
    Caller caller(service.server());
    Calls calls = service.Connect();
    std::map<std::string, std::string> names = Videos(caller);
    for (const char* const prompt : {"finished", "plain"}) {
      const v1::Video video = caller.Get(names[prompt]).video;
      EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
      EXPECT_GT(video.stats().device_seconds(), 0);
      std::string bytes;
      EXPECT_TRUE(calls.Download(names[prompt], 0, &bytes).ok());
      EXPECT_EQ(video.media().sha256(), Sha256Hex(bytes));
    }
    std::string bytes;
    EXPECT_EQ(ReasonOf(calls.Download(names["broken file"], 0, &bytes)), "MEDIA_CORRUPT");
    EXPECT_FALSE(caller.Get(kDamaged).ok());
    service.Restart(SIGKILL);
  }
}

TEST_P(TakeOver, WhatHadExpiredOrWasDeletedIsGoneAndItsRequestIdStaysTaken) {
  Service service(GetParam(), Kept());
  Caller caller(service.server());
  EXPECT_EQ(caller.Get(kExpired).reason(), "VIDEO_NOT_FOUND");
  EXPECT_EQ(caller.Create(KeptSpec("expired"), RequestId(5)).reason(), "VIDEO_EXPIRED");
  EXPECT_EQ(caller.Create(KeptSpec("deleted"), RequestId(3)).reason(), "VIDEO_EXPIRED");
  EXPECT_EQ(caller.Create(KeptSpec("another"), RequestId(1)).reason(), "REQUEST_ID_CONFLICT");
  const Answer again = caller.Create(KeptSpec("finished"), RequestId(1));
  EXPECT_EQ(again.video.state(), v1::VIDEO_STATE_SUCCEEDED) << again.status.error_message();
  EXPECT_EQ(again.video.name(), Videos(caller)["finished"]);
}

INSTANTIATE_TEST_SUITE_P(Alone, TakeOver, ::testing::Values(Life::kAlone));

}  // namespace
}  // namespace reel::tests
