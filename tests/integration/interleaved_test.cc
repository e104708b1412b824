// SPDX-License-Identifier: Apache-2.0
// A hundred videos of a real model in each other's way: beside others, parked, preempted, begun
// anew after a loss. Each is the file that the same request gives with the device to itself.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr int kKinds = 10, kRounds = 9;
constexpr absl::Duration kLong = absl::Minutes(3);

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
  spec.set_num_frames(17);
  spec.set_num_inference_steps(100);
  return spec;
}

// Amid its steps when its worker is killed, however fast the machine.
v1::VideoSpec KilledKind() {
  v1::VideoSpec spec = SmallSpec("a yellow star", 98);
  spec.set_width(128);
  spec.set_height(128);
  spec.set_num_inference_steps(50);
  return spec;
}

// What the server says that nine of ten such videos take of an idle device.
absl::Duration QuoteFor(Calls& calls, const v1::VideoSpec& spec) {
  v1::EstimateVideoRequest request;
  *request.mutable_spec() = spec;
  v1::EstimateVideoResponse quote;
  grpc::ClientContext context;
  EXPECT_TRUE(calls.videos().EstimateVideo(&context, request, &quote).ok());
  return absl::Seconds(quote.run_p90().seconds()) + absl::Nanoseconds(quote.run_p90().nanos());
}

std::string SoloFile(Calls& calls, const v1::VideoSpec& spec) {
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  const StreamResult result = calls.Generate(request, nullptr, kLong);
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
      const v1::Video video = calls.Await(name, kLong);
      EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
      EXPECT_EQ(video.stats().mean_batch(), 1);
      EXPECT_EQ(video.media().sha256(), sha256) << name << ", attempt " << video.attempt();
      again += video.attempt() > 1 ? 1 : 0;
    }
    return again;
  }
  size_t size() const { return files_.size(); }

 private:
  std::map<std::string, std::string> files_;
};

// By the default scheduler, which packs videos of a model. LTX-Video on a CPU steps each of them by
// itself (`steps_alone` of its card), so that all bytes are those of the solo run.
TEST(Interleaved, AHundredVideosAreThoseOfTheirSoloRuns) {
  ReelServer server({absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"),
                                  "/model/demo/weights' dtype: 'fp32' }"),
                     {},
                     "",
                     true});
  Calls calls(server.Connect());
  std::vector<std::string> solo;
  for (int kind = 0; kind < kKinds; ++kind) solo.push_back(SoloFile(calls, KindOf(kind)));
  const std::string solo_parked = SoloFile(calls, LongKind());
  const std::string solo_killed = SoloFile(calls, KilledKind());

  Expected expected;
  const auto create = [&](int kind) {
    expected.Add(calls.Create(KindOf(kind)).name(), solo[static_cast<size_t>(kind)]);
  };
  // One that is parked for another that would be late. How fast the machine is decides when that
  // is, so the deadline follows the server's quotes; where it slows down meanwhile another is
  // tried.
  for (int attempt = 0; attempt < 10 && server.Metric("reel_preemptions_total") == 0; ++attempt) {
    v1::GenerateVideoRequest urgent;
    *urgent.mutable_spec() = KindOf(0);
    // Enough for itself, too little to wait for the other.
    const absl::Duration enough = QuoteFor(calls, KindOf(0)) + QuoteFor(calls, LongKind()) / 2;
    const std::string parked = calls.Create(LongKind()).name();
    expected.Add(parked, solo_parked);
    EXPECT_TRUE(Eventually([&] { return calls.Get(parked).progress().step() >= 1; }));
    urgent.mutable_timeout()->set_seconds(absl::ToInt64Seconds(enough));
    urgent.mutable_timeout()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(enough) % 1'000'000'000));
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
    const std::string running = calls.Create(KilledKind()).name();
    expected.Add(running, solo_killed);
    // Behind all that are shorter, which may take long on a busy machine.
    EXPECT_TRUE(Eventually([&] { return calls.Get(running).progress().step() > 2; }, kLong));
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
