// SPDX-License-Identifier: Apache-2.0
// Killing a service's processes loses no video, and no finished one is rendered again.
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

constexpr int kRounds = 9, kEach = 6;

// What is killed while a video of the round runs.
enum class Victim { kWorker, kServer, kBoth };

class Kill : public Conformance {
 protected:
  // Another shape for each worker that dies: one that two workers died of is refused for a while.
  static v1::VideoSpec SpecOf(int round) {
    v1::VideoSpec spec = Steps("killed", 20);
    spec.set_num_frames(9 + 8 * (round / 3));
    return spec;
  }
  void Create(Service& service, int round) {
    Caller caller(service.server());
    for (int i = 0; i < kEach; ++i) {
      const std::string id = NewRequestId();
      const Answer made = caller.Create(SpecOf(round), id);
      ASSERT_TRUE(made.ok()) << made.status.error_message();
      rounds_[id] = round;
      names_[id] = made.video.name();
      last_ = made.video.name();
    }
  }
  // What is finished now stays as it is.
  void Look(Service& service) {
    Caller caller(service.server());
    for (const auto& [id, name] : names_) {
      const Answer now = caller.Get(name);
      ASSERT_TRUE(now.ok()) << now.status.error_message();
      if (now.video.state() != v1::VIDEO_STATE_SUCCEEDED) continue;
      const auto [before, is_new] = finished_.try_emplace(name, now.video.DebugString());
      EXPECT_EQ(before->second, now.video.DebugString()) << "rendered twice";
    }
  }
  void AwaitAll(Service& service) {
    Caller caller(service.server());
    for (const auto& [id, name] : names_) {
      const v1::Video video = caller.Await(name);
      EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
    }
  }

  std::map<std::string, std::string> names_;  // by request id
  std::map<std::string, int> rounds_;         // likewise
  std::map<std::string, std::string> finished_;
  std::string last_;
};

TEST_P(Kill, OfServersAndWorkersLosesNothingAndRendersNothingTwice) {
  Service service(GetParam(), {.step_ms = 10, .more = "scheduler { fill_rows: 1 }"});
  for (int round = 0; round < kRounds; ++round) {
    const auto victim = static_cast<Victim>(round % 3);
    // No video meets the death of a second worker, which would end it.
    if (victim != Victim::kServer) AwaitAll(service);
    ASSERT_NO_FATAL_FAILURE(Create(service, round));
    Caller(service.server()).AwaitStep(last_);
    Look(service);
    if (victim != Victim::kServer) service.KillWorkers();
    if (victim != Victim::kWorker) service.Restart(SIGKILL);
    ASSERT_NO_FATAL_FAILURE(Look(service));
  }
  AwaitAll(service);
  ASSERT_NO_FATAL_FAILURE(Look(service));
  EXPECT_EQ(finished_.size(), static_cast<size_t>(kRounds * kEach));
  Caller caller(service.server());
  EXPECT_EQ(caller.Names().size(), finished_.size());
  int again = 0;
  for (const auto& [id, name] : names_) {
    EXPECT_EQ(caller.Create(SpecOf(rounds_[id]), id).video.name(), name);
    const v1::Video video = caller.Get(name).video;
    again += video.attempt() > 1 ? 1 : 0;
    std::string bytes;
    EXPECT_TRUE(service.Connect().Download(name, 0, &bytes).ok());
    EXPECT_EQ(video.media().sha256(), Sha256Hex(bytes));
  }
  std::cout << "FIGURE " << finished_.size() << " videos, 6 kills of workers, 6 of servers: none "
            << "lost, none rendered twice, " << again << " begun again\n";
}

REEL_EVERY_LIFE(Kill);

}  // namespace
}  // namespace reel::tests
