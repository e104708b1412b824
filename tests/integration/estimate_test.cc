// SPDX-License-Identifier: Apache-2.0
// Compares a server's estimates with what its jobs take: a mixture of shapes, two callers at a
// time.
#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr char kMixedDevice[] = R"(models { name: "testcard" test_card {
    step_time { nanos: 8000000 } decode_time_per_frame { nanos: 500000 } } }
    scheduler { fill_rows: 1 }
)";
// Jobs that meet share their steps, which take a quarter longer for each more.
constexpr char kSharedDevice[] = R"(models { name: "testcard" test_card {
    step_time { nanos: 8000000 } step_time_per_extra_job { nanos: 2000000 }
    decode_time_per_frame { nanos: 500000 } } }
)";

struct MixedShape {
  int side, frames, steps, previews_every;
};

constexpr int kJobs = 140;
constexpr MixedShape kMixture[] = {{64, 9, 4, 0},    {64, 25, 8, 0}, {128, 9, 6, 0},
                                   {128, 17, 10, 2}, {96, 33, 5, 0}, {64, 9, 12, 3}};

v1::VideoSpec SpecOf(const MixedShape& shape, uint64_t seed) {
  v1::VideoSpec spec = SmallSpec("a red fox");
  spec.set_width(shape.side);
  spec.set_height(shape.side);
  spec.set_num_frames(shape.frames);
  spec.set_num_inference_steps(shape.steps);
  spec.set_seed(seed);
  spec.mutable_preview()->set_every_steps(shape.previews_every);
  return spec;
}

// `count` jobs, one after the other, in an order that the seed draws.
void Render(const ReelServer& server, unsigned seed, int count) {
  const auto stub = v1::VideoService::NewStub(server.Connect());
  std::mt19937 random(seed);
  for (int i = 0; i < count; ++i) {
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = SpecOf(kMixture[random() % std::size(kMixture)], random());
    request.set_without_media(true);
    grpc::ClientContext context;
    auto reader = stub->GenerateVideo(&context, request);
    v1::GenerateVideoResponse event;
    while (reader->Read(&event)) {
    }
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

double Done(const ReelServer& server) {
  return server.Metric("reel_requests_total", "outcome=\"ok\"");
}

// Returns when all of them are counted, too.
void RenderInTwos(const ReelServer& server, unsigned seed, int count) {
  const double before = Done(server);
  std::thread other([&] { Render(server, seed + 1, count / 2); });
  Render(server, seed, count - count / 2);
  other.join();
  EXPECT_TRUE(Eventually([&] { return Done(server) == before + count; }));
}

struct Checked {
  double jobs, near, close, within;  // near: an error of at most 5 %, close: 10 %
};

Checked CheckedOf(const ReelServer& server) {
  return {server.Metric("reel_estimate_error_ratio_count"),
          server.Metric("reel_estimate_error_ratio_bucket", "le=\"0.05\""),
          server.Metric("reel_estimate_error_ratio_bucket", "le=\"0.1\""),
          server.Metric("reel_estimate_within_p90_total", "result=\"within\"")};
}

struct Figures {
  double close = 0, within = 0;  // shares
};

Figures RoundOf(const ReelServer& server, unsigned seed) {
  const Checked before = CheckedOf(server);
  RenderInTwos(server, seed, kJobs);
  const Checked after = CheckedOf(server);
  const double jobs = after.jobs - before.jobs;
  const double near = (after.near - before.near) / jobs;
  const Figures figures{(after.close - before.close) / jobs, (after.within - before.within) / jobs};
  std::cout << "FIGURE " << jobs << " jobs of " << std::size(kMixture) << " shapes: " << 100 * near
            << " % of estimates within 5 %, " << 100 * figures.within
            << " % of runs within the quoted p90\n";
  return figures;
}

// At least a share of `close` within 10 %. Beside other work on the machine steps vary by more, for
// a while: one of three rounds must keep to it.
void ExpectEstimates(const char* device, double close) {
  ServerSetup setup;
  setup.config = device;
  ReelServer server(setup);
  RenderInTwos(server, 1, 50);
  Figures figures;
  for (unsigned round = 0; round < 3 && !(figures.close >= close && figures.within >= 0.8);
       ++round) {
    figures = RoundOf(server, 7 + 2 * round);
  }
  EXPECT_GE(figures.close, close);
  EXPECT_GE(figures.within, 0.8);
}

TEST(Estimate, OfAMixtureIsNearAndItsQuoteHolds) { ExpectEstimates(kMixedDevice, 0.5); }

// Whom a job will share its steps with is not known when it comes, so its estimate is not near.
TEST(Estimate, WhereStepsAreSharedTheQuoteHolds) { ExpectEstimates(kSharedDevice, 0); }

}  // namespace
}  // namespace reel::tests
