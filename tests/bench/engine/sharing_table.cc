// SPDX-License-Identifier: Apache-2.0
// Prints the table of what the engine's decisions make of a simulated device: the share of the best
// fixed batch, the least and the mean of twenty seeds.
#include <algorithm>
#include <cstdio>

#include "tests/bench/engine/sharing_simulation.h"

int main() {
  constexpr int kSeeds = 20;
  std::printf("| device | 2 in flight | 4 | 8 | 16 |\n|---|---:|---:|---:|---:|\n");
  for (const auto& shape : reel::worker::CostShapes()) {
    std::printf("| %s |", shape.name.c_str());
    for (const int in_flight : {2, 4, 8, 16}) {
      const double best = reel::worker::BestFixed(shape, in_flight);
      double sum = 0, least = 1e9;
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        const double share =
            reel::worker::Simulate(shape, {in_flight, 0, seed}).videos_a_second / best;
        sum += share;
        least = std::min(least, share);
      }
      std::printf(" %.2f (%.2f) |", least, sum / kSeeds);
    }
    std::printf("\n");
  }
}
