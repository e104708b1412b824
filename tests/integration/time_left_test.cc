// SPDX-License-Identifier: Apache-2.0
// The time left that a caller is told, against what it took from there: a mixture of shapes, one
// after the other. Most of a step is a wait, so that other work on the machine counts for little.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <random>
#include <vector>

#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr double kBar = 0.15;
constexpr double kFifth = 0.2;
constexpr int kJobs = 20;

struct LongShape {
  int side, frames, steps;
};
constexpr LongShape kShapes[] = {{64, 25, 12}, {96, 9, 15}, {64, 9, 12}, {64, 49, 9}};

v1::GenerateVideoRequest RequestFor(const LongShape& shape, uint64_t seed) {
  v1::GenerateVideoRequest request;
  v1::VideoSpec& spec = *request.mutable_spec();
  spec = SmallSpec("a red fox", seed);
  spec.set_width(shape.side);
  spec.set_height(shape.side);
  spec.set_num_frames(shape.frames);
  spec.set_num_inference_steps(shape.steps);
  request.set_without_media(true);
  return request;
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// How far off the time left was that was told first after a fifth of the way, as a share of what it
// took from there. The fraction never falls (`faults`).
double ErrorAtAFifth(Calls& calls, const v1::GenerateVideoRequest& request) {
  std::optional<absl::Duration> told;
  absl::Time then;
  const StreamResult result = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (!told && event.has_progress() && event.progress().fraction() >= kFifth) {
      told = ToDuration(event.progress().remaining());
      then = absl::Now();
    }
    return true;
  });
  const absl::Duration truth = absl::Now() - then;
  EXPECT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_TRUE(result.faults.empty()) << result.faults.front();
  EXPECT_TRUE(told.has_value());
  return told ? std::abs(absl::FDivDuration(*told, truth) - 1) : 1;
}

// What nine of ten stayed within.
double RoundOf(Calls& calls, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> errors;
  for (int i = 0; i < kJobs; ++i) {
    const LongShape& shape = kShapes[random() % std::size(kShapes)];
    errors.push_back(ErrorAtAFifth(calls, RequestFor(shape, random())));
  }
  std::ranges::sort(errors);
  const double nine_of_ten = errors[kJobs * 9 / 10 - 1];
  std::cout << "FIGURE time left at a fifth of the way, " << kJobs << " jobs of "
            << std::size(kShapes) << " shapes (seed " << seed << "): median error "
            << 100 * errors[kJobs / 2] << " %, nine of ten within " << 100 * nine_of_ten << " %\n";
  return nine_of_ten;
}

TEST(TimeLeft, OfNineInTenIsWithinFifteenPercentAtAFifthOfTheWay) {
  ServerSetup setup;
  setup.config =
      "models { name: 'testcard' test_card { step_time { nanos: 40000000 }\n"
      "decode_time_per_frame { nanos: 4000000 } } }";
  ReelServer server(setup);
  Calls calls(server.Connect());
  // What nobody has asked for before is not known.
  for (const LongShape& shape : kShapes) {
    for (uint64_t seed = 0; seed < 2; ++seed) ErrorAtAFifth(calls, RequestFor(shape, seed));
  }
  // Beside other work on the machine steps vary by more, for a while: one of three rounds must keep
  // to the bar.
  double error = RoundOf(calls, 1);
  for (unsigned seed = 2; error > kBar && seed <= 3; ++seed) error = RoundOf(calls, seed);
  EXPECT_LE(error, kBar);
}

}  // namespace
}  // namespace reel::tests
