// SPDX-License-Identifier: Apache-2.0
// A hundred videos of a real model in each other's way: beside others, parked, preempted, begun
// anew after a loss. Each is the file that the same request gives with the device to itself.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr int kKinds = 10, kRounds = 9;

// Sizes, lengths, steps, prompts and guidance differ.
v1::VideoSpec KindOf(int kind) {
  v1::VideoSpec spec = SmallSpec(absl::StrCat("a red circle ", kind), static_cast<uint64_t>(kind));
  spec.set_width(kind % 2 == 0 ? 128 : 160);
  spec.set_height(kind % 3 == 0 ? 160 : 128);
  spec.set_num_frames(kind % 4 == 0 ? 17 : 9);
  spec.set_num_inference_steps(2 + kind % 5);
  if (kind % 5 == 4) spec.mutable_kernels()->set_profile("batch_invariant");
  return spec;
}

// Long enough to be parked.
v1::VideoSpec LongKind() {
  v1::VideoSpec spec = SmallSpec("a yellow star", 99);
  spec.set_width(128);
  spec.set_height(128);
  spec.set_num_inference_steps(100);
  return spec;
}

std::string SoloFile(Calls& calls, const v1::VideoSpec& spec) {
  const StreamResult result = calls.Generate(spec);
  EXPECT_TRUE(result.is_finished) << result.status.error_message();
  return Sha256Hex(result.file);
}

// Videos and the files that they must be.
class Expected {
 public:
  void Add(const std::string& name, const std::string& sha256) { files_[name] = sha256; }
  // The number of those that ran more than once.
  int Check(Calls& calls) const {
    int again = 0;
    for (const auto& [name, sha256] : files_) {
      const v1::Video video = calls.Await(name, absl::Seconds(120));
      EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
      EXPECT_EQ(video.media().sha256(), sha256) << name << ", attempt " << video.attempt();
      again += video.attempt() > 1 ? 1 : 0;
    }
    return again;
  }
  size_t size() const { return files_.size(); }

 private:
  std::map<std::string, std::string> files_;
};

TEST(Interleaved, AHundredVideosAreThoseOfTheirSoloRuns) {
  ReelServer server(
      {absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"),
                    "/model/demo/weights' dtype: 'fp32' } scheduler { fill_rows: 1 }"),
       {},
       "",
       true});
  Calls calls(server.Connect());
  std::vector<std::string> solo;
  for (int kind = 0; kind < kKinds; ++kind) solo.push_back(SoloFile(calls, KindOf(kind)));
  const absl::Time start = absl::Now();
  const std::string solo_long = SoloFile(calls, LongKind());
  const absl::Duration long_time = absl::Now() - start;

  Expected expected;
  const auto create = [&](int kind) {
    expected.Add(calls.Create(KindOf(kind)).name(), solo[static_cast<size_t>(kind)]);
  };
  // One that is parked for another that would be late. Whether it is enough for that the machine
  // decides, so it is tried until it was.
  for (int attempt = 0; attempt < 10 && server.Metric("reel_preemptions_total") == 0; ++attempt) {
    const std::string parked = calls.Create(LongKind()).name();
    expected.Add(parked, solo_long);
    EXPECT_TRUE(Eventually([&] { return calls.Get(parked).progress().step() >= 15; }));
    v1::GenerateVideoRequest urgent;
    *urgent.mutable_spec() = KindOf(0);
    // Too little to wait for the other, enough for itself.
    urgent.mutable_timeout()->set_seconds(
        std::max<int64_t>(1, absl::ToInt64Seconds(long_time / 2)));
    const StreamResult first = calls.Generate(urgent);
    if (first.is_finished) {
      EXPECT_EQ(Sha256Hex(first.file), solo[0]);
    }
    calls.Await(parked);
  }
  const double preempted = server.Metric("reel_preemptions_total");
  EXPECT_GE(preempted, 1);
  for (int round = 0; round < kRounds; ++round) {
    for (int kind = 0; kind < kKinds; ++kind) create((kind * 3 + round) % kKinds);
    if (round % 3 != 1) continue;
    // In the midst of a few.
    const std::string running = calls.Create(LongKind()).name();
    expected.Add(running, solo_long);
    EXPECT_TRUE(Eventually([&] { return calls.Get(running).progress().step() > 2; }));
    for (const pid_t worker : server.Children()) ::kill(worker, SIGKILL);
  }
  for (int kind = 0; expected.size() < 100; ++kind) create(kind % kKinds);
  const int again = expected.Check(calls);
  EXPECT_GE(again, 3);
  std::cout << "FIGURE " << expected.size() << " interleaved videos, " << preempted
            << " times parked for another, " << again
            << " of them begun anew: all the same files\n";
}

}  // namespace
}  // namespace reel::tests
