// SPDX-License-Identifier: Apache-2.0
// The engine's decisions of who shares a step, on simulated devices and without a clock.
#include "tests/bench/engine/sharing_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace reel::worker {
namespace {

constexpr int kSeeds = 6;

class SharingSimulation : public ::testing::TestWithParam<int> {
 protected:
  // Beside the best fixed batch: the least of all seeds, and their mean.
  static std::pair<double, double> ShareOf(const CostShape& shape, SimulatedLoad load) {
    const double best = BestFixed(shape, load.in_flight);
    double sum = 0, least = 1e9;
    for (load.seed = 0; load.seed < kSeeds; ++load.seed) {
      const double share = Simulate(shape, load).videos_a_second / best;
      least = std::min(least, share);
      sum += share;
    }
    return {least, sum / kSeeds};
  }
};

// Whatever sharing gains there. What is measured while it runs is part of the time.
TEST_P(SharingSimulation, MakesNearlyAsMuchAsTheBestFixedBatch) {
  for (const CostShape& shape : CostShapes()) {
    if (shape.first_factor > 1) continue;
    const auto [least, mean] = ShareOf(shape, {GetParam()});
    EXPECT_GE(least, 0.85) << shape.name;
    EXPECT_GE(mean, GetParam() <= 8 ? 0.95 : 0.92) << shape.name;
  }
}

TEST_P(SharingSimulation, AWrongMeasurementDoesNotStay) {
  for (const CostShape& shape : CostShapes()) {
    const auto [least, mean] = ShareOf(shape, {.in_flight = GetParam(), .settled = 24});
    EXPECT_GE(least, 0.85) << shape.name;
    EXPECT_GE(mean, 0.92) << shape.name;
  }
}

INSTANTIATE_TEST_SUITE_P(InFlight, SharingSimulation, ::testing::Values(2, 4, 8, 16),
                         [](const auto& param) { return std::to_string(param.param); });

}  // namespace
}  // namespace reel::worker
